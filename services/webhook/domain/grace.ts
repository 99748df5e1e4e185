/** How long a secret that was replaced is still good. */
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { mismatch } from "#shared/values/wording.ts";

const graceSecondsMax = 7 * 24 * 60 * 60;
const graceSecondsDefault = 24 * 60 * 60;

/**
 * Reads a time of grace in seconds; undefined for a day.
 * @returns until when, or null for none.
 * @throws DaybookError `parameter_invalid`
 */
export function readGrace(seconds: number | undefined, now: Micros): Micros | null {
  const grace = seconds ?? graceSecondsDefault;
  if (!Number.isInteger(grace) || grace < 0 || grace > graceSecondsMax) {
    const expected = `a whole number of seconds from 0 to ${graceSecondsMax}`;
    throw DaybookError.ofFields([mismatch("grace_seconds", expected, seconds, { quoted: true })]);
  }
  return grace === 0 ? null : now + grace * 1_000_000;
}
