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

/** The instant of a civil time; of two that have it the first, and of one that there is not the one as long after the gap's begin. */
function toInstant(civil: Micros, zone: string): Micros {
  if (zone === "UTC") return civil;
  const early = civil - offsetAt(civil - dayMicros, zone);
  const late = civil - offsetAt(civil + dayMicros, zone);
  return offsetAt(early, zone) === civil - early ? early : late;
}

const dayMicros = 24 * 60 * 60 * 1_000_000;

/** How far a zone is ahead of UTC at an instant. */
function offsetAt(instant: Micros, zone: string): Micros {
  const seconds = Math.floor(instant / 1_000_000);
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  const parts = new Map(format.formatToParts(seconds * 1000).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const civil = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return civil * 1000 - seconds * 1_000_000;
}
