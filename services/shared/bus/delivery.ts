/** How messages are handed to a consumer, over whatever bus they came. */
import type { BusHandler, BusMessage } from "./bus.ts";
import { DaybookError } from "../values/errors.ts";
import { isDatabaseAway } from "../database/failures.ts";

/**
 * Hands messages over together, and one by one when that fails, so that a bad one does not hold up the others. When it fails because something
 * is away, the others are not tried one after the other: each would only wait for the same.
 * @returns for each, in order, why it was not taken.
 */
export async function deliver(messages: readonly BusMessage[], handler: BusHandler): Promise<(Error | undefined)[]> {
  const together = await attempt(messages, handler);
  if (together === undefined || messages.length === 1) return messages.map(() => together);
  const failures: (Error | undefined)[] = [];
  let away: Error | undefined;
  for (const message of messages) {
    const failure: Error | undefined = away ?? (await attempt([message], handler));
    if (failure && isAway(failure)) away = failure;
    failures.push(failure);
  }
  return failures;
}

/** Whether a failure means that something which the consumer needs is away: then it says nothing of the message. */
export function isAway(failure: Error): boolean {
  return isDatabaseAway(failure) || (failure instanceof DaybookError && failure.code === "service_unavailable");
}

/** Whatever was thrown, as an error. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

const reasonBytesMax = 1024;

/** Why a message was not taken, in one line that is short enough to be kept with it. */
export function reasonOf(failure: Error): string {
  const line = failure.message.replaceAll(/[\p{Cc}\s]+/gu, " ").trim() || failure.name;
  // Whatever is cut through stands as U+FFFD at the end.
  return Buffer.from(line)
    .subarray(0, reasonBytesMax)
    .toString()
    .replace(/\uFFFD$/, "");
}

async function attempt(messages: readonly BusMessage[], handler: BusHandler): Promise<Error | undefined> {
  try {
    await handler(messages);
    return undefined;
  } catch (error) {
    return asError(error);
  }
}
