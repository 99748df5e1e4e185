/** Delivery of messages to a handler, the same for every bus. */
import type { BusHandler, BusMessage } from "./bus.ts";
import { DaybookError } from "../values/errors.ts";
import { isDatabaseAway } from "../database/failures.ts";

/**
 * Delivers messages in one batch, and one by one when the batch fails, so that a bad message does not block the others.
 * Once a failure means that a dependency is away, the remaining messages fail with it untried.
 * @returns for each message, in order, why it failed, or undefined.
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

/** Whether a failure means that a dependency of the consumer is away, which says nothing about the message. */
export function isAway(failure: Error): boolean {
  return isDatabaseAway(failure) || (failure instanceof DaybookError && failure.code === "service_unavailable");
}

/** Turns a thrown value into an Error. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

const reasonBytesMax = 1024;

/** The reason of a failure in one line of at most 1 KB, to be stored with the message. */
export function reasonOf(failure: Error): string {
  const line = failure.message.replaceAll(/[\p{Cc}\s]+/gu, " ").trim() || failure.name;
  // A character that was cut in two becomes U+FFFD.
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
