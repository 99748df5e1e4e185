/** When a delivery is tried again. */
import type { Micros } from "#shared/values/clock.ts";

const second = 1;
const minute = 60;
const hour = 60 * minute;

/** In seconds after each failed attempt. After one more failure the delivery has failed for good. */
const steps = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
] as const;
const spread = 0.2;
const retryAfterSecondsMax = 24 * hour;

/**
 * When to try again.
 * @param attempts those so far, from 1.
 * @param retryAfterSeconds what the answer asked for; it counts between the step and 24 hours.
 * @param random from 0 to 1: steps are spread by 20 %, so that what failed together does not come again together.
 * @returns the delay in seconds; undefined after the last attempt.
 */
export function retryDelaySeconds(
  attempts: number,
  retryAfterSeconds: number | null,
  random: number,
): number | undefined {
  const step = steps[attempts - 1];
  if (step === undefined) return undefined;
  const spreadStep = step * (1 - spread + 2 * spread * random);
  return Math.max(spreadStep, Math.min(retryAfterSeconds ?? 0, retryAfterSecondsMax));
}

const httpDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads Retry-After (RFC 9110, 10.2.3): seconds, or a date of HTTP. @returns seconds from now; null for others. */
export function readRetryAfter(text: string | undefined, now: Micros): number | null {
  if (text === undefined) return null;
  if (/^\d{1,10}$/.test(text)) return Number(text);
  if (!httpDate.test(text)) return null;
  const seconds = Date.parse(text) / 1000 - now / 1_000_000;
  return Number.isNaN(seconds) ? null : Math.max(0, Math.ceil(seconds));
}
