import { UsageError } from "./usage.ts";

const graceSecondsMax = 604_800;

/** For how long the secret before is still good, in seconds; undefined where --grace is not given. */
export function readGrace(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,6}$/.test(text) && Number(text) <= graceSecondsMax) return Number(text);
  throw new UsageError(`--grace is a whole number of seconds, at most ${graceSecondsMax}.`);
}
