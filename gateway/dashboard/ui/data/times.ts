/** Times as people read them. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampDate } from "@bufbuild/protobuf/wkt";

export type Instant = Timestamp | Date;

export const dateOf = (at: Instant): Date => (at instanceof Date ? at : timestampDate(at));

const steps: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["week", 7 * 86_400],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });

/** "5 min. ago", "in 2 days". */
export function formatRelative(at: Date, now: Date): string {
  const seconds = Math.trunc((at.getTime() - now.getTime()) / 1000);
  const [unit, size] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  return relative.format(Math.trunc(seconds / size), unit);
}

const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

/** With seconds and zone, as the reader's own clock shows it. */
export function formatAbsolute(at: Date): string {
  return absolute.format(at);
}

/** As a Timestamp has it, to the microsecond: what the API shows. */
export function formatExact(at: Instant): string {
  const text = dateOf(at).toISOString();
  if (at instanceof Date) return text;
  return text.replace(/\.\d+Z$/, `.${String(Math.trunc(at.nanos / 1000)).padStart(6, "0")}Z`);
}

/** What an input of the type datetime-local takes: local time, to the minute. */
export function localText(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
