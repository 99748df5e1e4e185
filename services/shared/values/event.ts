/** Rules of the fields of an event, except its type, its profile and its amount. */
import type { Micros } from "./clock.ts";
import type { FieldError } from "./errors.ts";
import { textProblem } from "../json/json.ts";
import { parseDateTime } from "./time.ts";
import { dateTimeExpected } from "./times.ts";
import { isLongerThan } from "./text.ts";
import { mismatch, unkeepable } from "./wording.ts";

/** The most characters of a dedupe_id. */
export const dedupeIdLengthMax = 255;

const microsPerMs = 1000;
const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

/** The expected form of an idempotency_key in a body, for messages. */
export const idempotencyKeyExpected = "a text of 1 to 255 printable ASCII characters without spaces";

/** The expected form of a non-empty text of at most `lengthMax` characters, for messages. */
export function shortTextExpected(lengthMax: number): string {
  return `a text of 1 to ${lengthMax} characters`;
}

/**
 * Parses the time of an event: from 1970 on, and at most a year ahead of `now`.
 * @param param the name of the field.
 */
export function readOccurredAt(
  text: string,
  now: Micros,
  param: string,
): { occurredAt: Micros } | { error: FieldError } {
  const occurredAt = parseDateTime(text);
  if (occurredAt === undefined) return { error: mismatch(param, dateTimeExpected, text, { quoted: true }) };
  if (occurredAt >= 0 && occurredAt <= yearAfter(now)) return { occurredAt };
  return { error: mismatch(param, "a time from 1970 on and at most a year ahead", text, { quoted: true }) };
}

/** The same date and time of the next year. */
export function yearAfter(now: Micros): Micros {
  const nowMs = Math.floor(now / microsPerMs);
  const date = new Date(nowMs);
  return now + (date.setUTCFullYear(date.getUTCFullYear() + 1) - nowMs) * microsPerMs;
}

/** Finds the fault of a text that must not be empty. */
export function findShortTextFault(text: string, lengthMax: number, param: string): FieldError | undefined {
  const problem = textProblem(text);
  if (problem !== undefined) return unkeepable(param, problem);
  const isGood = text !== "" && !isLongerThan(text, lengthMax);
  return isGood ? undefined : mismatch(param, shortTextExpected(lengthMax), text);
}

/** Finds the fault of an idempotency_key in a body. */
export function findIdempotencyKeyFault(text: string, param = "idempotency_key"): FieldError | undefined {
  return idempotencyKeyPattern.test(text) ? undefined : mismatch(param, idempotencyKeyExpected, text);
}
