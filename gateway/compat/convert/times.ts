/** ISO 8601 times, and civil times of a time zone. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Micros } from "#shared/values/clock.ts";
import { formatTimestamp, parseDateTime } from "#shared/values/time.ts";

/** `2026-11-20T10:15:00+00:00`, with a six-digit fraction unless it is zero. Some clients parse only these forms. */
export function toDateTime(time: Timestamp): string {
  return formatTimestamp(time).replace(/(?:\.0+)?Z$/, "+00:00");
}

export function toDateTimeOrNull(time: Timestamp | undefined): string | null {
  return time ? toDateTime(time) : null;
}

const datePattern = /^\d{4}-\d{2}-\d{2}$/;
const lostPlus = /(T[\d:.,]+) (\d{2}:?\d{2})$/;

/**
 * Reads a date-time or a date, in the zone if it has no offset. Accepts an offset whose plus became a space.
 * @returns undefined if the text is neither.
 */
export function readTime(text: string, zone = "UTC"): Micros | undefined {
  const trimmed = text
    .trim()
    .replace(lostPlus, "$1+$2")
    .replace(/^(\d{4}-\d{2}-\d{2}) (?=\d{2}:)/, "$1T");
  const full = datePattern.test(trimmed) ? `${trimmed}T00:00:00` : trimmed;
  const exact = parseDateTime(full);
  if (exact !== undefined) return exact;
  const civil = parseDateTime(`${full}Z`);
  return civil === undefined ? undefined : toInstant(civil, zone);
}

/** Ambiguous civil times are the earlier instant; times in a gap move by the length of the gap. */
function toInstant(civil: Micros, zone: string): Micros {
  const time = Temporal.Instant.fromEpochNanoseconds(BigInt(civil) * 1000n)
    .toZonedDateTimeISO("UTC")
    .toPlainDateTime();
  return Number(time.toZonedDateTime(zone).epochNanoseconds / 1000n);
}
