/** What the fields of an event hold, beside its type, its profile and its amount. */
import type { Micros } from "./clock.ts";
import type { FieldError } from "./errors.ts";
import { textProblem } from "../json/json.ts";
import { parseDateTime } from "./time.ts";
import { dateTimeExpected } from "./times.ts";
import { isLongerThan } from "./text.ts";
import { mismatch, unkeepable } from "./wording.ts";

/** How long a dedupe_id may be, in characters. */
export const dedupeIdLengthMax = 255;

const microsPerMs = 1000;
const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

/** What an idempotency_key of a body is. */
export const idempotencyKeyExpected = "a text of 1 to 255 printable ASCII characters without spaces";

/** What a text of so many characters at most is that may not be empty. */
export function shortTextExpected(lengthMax: number): string {
  return `a text of 1 to ${lengthMax} characters`;
}

/**
 * Reads when an event happened: from 1970 on, and at most a year ahead of `now`.
 * @param param names the field.
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

/** The same time of the next year. */
export function yearAfter(now: Micros): Micros {
  const nowMs = Math.floor(now / microsPerMs);
  const date = new Date(nowMs);
  return now + (date.setUTCFullYear(date.getUTCFullYear() + 1) - nowMs) * microsPerMs;
}

/** What is wrong with a text that may not be empty, if anything is. */
export function findShortTextFault(text: string, lengthMax: number, param: string): FieldError | undefined {
  const problem = textProblem(text);
  if (problem !== undefined) return unkeepable(param, problem);
  const isGood = text !== "" && !isLongerThan(text, lengthMax);
  return isGood ? undefined : mismatch(param, shortTextExpected(lengthMax), text);
}

/** What is wrong with an idempotency_key of a body, if anything is. */
export function findIdempotencyKeyFault(text: string, param = "idempotency_key"): FieldError | undefined {
  return idempotencyKeyPattern.test(text) ? undefined : mismatch(param, idempotencyKeyExpected, text);
}
