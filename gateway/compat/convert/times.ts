/** Times: ISO 8601 in and out, and civil times of a zone. */
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Micros } from "#shared/values/clock.ts";
import { formatTimestamp, parseDateTime } from "#shared/values/time.ts";

/** `2026-11-20T10:15:00+00:00`, with a fraction of six digits where there is one: some clients read only these. */
export function toDateTime(time: Timestamp): string {
  return formatTimestamp(time).replace(/(?:\.0+)?Z$/, "+00:00");
}

/** As toDateTime; null without a time. */
export function toDateTimeOrNull(time: Timestamp | undefined): string | null {
  return time ? toDateTime(time) : null;
}

const datePattern = /^\d{4}-\d{2}-\d{2}$/;
const lostPlus = /(T[\d:.,]+) (\d{2}:?\d{2})$/;

/**
 * Reads a date-time, or a date. Without an offset it is of the zone. A plus that arrived as a space is read back as one.
 * @returns undefined for what is no such thing.
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

/** The instant of a civil time. Of two instants the earlier one counts; a time in a gap is moved by the length of the gap. */
function toInstant(civil: Micros, zone: string): Micros {
  const time = Temporal.Instant.fromEpochNanoseconds(BigInt(civil) * 1000n)
    .toZonedDateTimeISO("UTC")
    .toPlainDateTime();
  return Number(time.toZonedDateTime(zone).epochNanoseconds / 1000n);
}
