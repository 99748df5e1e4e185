/** Conversions of instants. Only whole seconds pass through a Date, because it would lose microseconds. */
import { create } from "@bufbuild/protobuf";
import { TimestampSchema, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { TimeRange } from "#proto/daybook/common/v1/range_pb.ts";
import type { Brand } from "./brand.ts";
import type { Micros } from "./clock.ts";

/** An instant as PostgreSQL reads it: `2026-11-20T10:15:00.123456Z`, or one before or after all others. */
export type Instant = Brand<string, "Instant"> | "-infinity" | "infinity";

const dateTimePattern =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9})\d*)?)?([Zz]|[+-]\d{2}(?::?\d{2})?)$/;

/**
 * Parses an ISO 8601 date-time with an offset or Z. Digits beyond the microsecond are cut off. A leap second (`:60`) is
 * the first instant of the next minute, as in PostgreSQL.
 * @returns microseconds since 1970, or undefined when the text is not such a date-time or the date does not exist.
 */
export function parseDateTime(text: string): Micros | undefined {
  const match = text.length <= 64 ? dateTimePattern.exec(text) : null;
  if (!match) return undefined;
  const part = (group: number): number => Number(match[group] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  const [hour, minute, second] = [part(4), part(5), part(6)];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const offset = offsetMinutes(match[8] as string);
  if (offset === undefined) return undefined;
  const midnight = new Date(0).setUTCFullYear(year, month - 1, day) / 1000;
  const seconds = midnight + hour * 3600 + (minute - offset) * 60 + second;
  const micros = Number((match[7] ?? "").slice(0, 6).padEnd(6, "0"));
  return seconds * 1_000_000 + micros;
}

// The second that was formatted last. Most times of a call are of the same one, and formatting a date is slow.
let lastSeconds = Number.NaN;
let lastText = "";

/** `2026-11-20T10:15:00.123456Z` */
export function formatMicros(micros: Micros): Instant {
  const seconds = Math.floor(micros / 1_000_000);
  if (seconds !== lastSeconds) {
    lastText = new Date(seconds * 1000).toISOString().slice(0, 19);
    lastSeconds = seconds;
  }
  const fraction = micros - seconds * 1_000_000;
  return `${lastText}.${String(fraction).padStart(6, "0")}Z` as Instant;
}

/** Converts microseconds to a protobuf Timestamp; undefined without any. */
export function toTimestamp(micros: Micros): Timestamp;
export function toTimestamp(micros: Micros | null | undefined): Timestamp | undefined;
export function toTimestamp(micros: Micros | null | undefined): Timestamp | undefined {
  if (micros === null || micros === undefined) return undefined;
  const seconds = Math.floor(micros / 1_000_000);
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: (micros - seconds * 1_000_000) * 1000 });
}

/** Converts a protobuf Timestamp to microseconds. */
export function fromTimestamp(timestamp: Timestamp): Micros {
  return Number(timestamp.seconds) * 1_000_000 + Math.floor(timestamp.nanos / 1000);
}

/** `2026-11-20T10:15:00.123456Z` of a protobuf Timestamp. */
export function formatTimestamp(timestamp: Timestamp): Instant {
  return formatMicros(fromTimestamp(timestamp));
}

/** A half-open range of instants: `from` is included, `before` is not. */
export interface Range {
  from: Instant | undefined;
  before: Instant | undefined;
}

/** The intersection of all bounds of a message. Instants are whole microseconds. */
export function toRange(range: TimeRange | undefined): Range {
  const bound = (time: Timestamp | undefined, add: number): Micros[] => (time ? [fromTimestamp(time) + add] : []);
  const from = [...bound(range?.gte, 0), ...bound(range?.gt, 1)];
  const before = [...bound(range?.lt, 0), ...bound(range?.lte, 1)];
  return {
    from: from.length > 0 ? formatBound(Math.max(...from)) : undefined,
    before: before.length > 0 ? formatBound(Math.min(...before)) : undefined,
  };
}

/** Microseconds are exact only from 1684 to 2255, and no stored time lies outside. */
function formatBound(micros: Micros): Instant {
  if (Number.isSafeInteger(micros)) return formatMicros(micros);
  return micros < 0 ? "-infinity" : "infinity";
}

function offsetMinutes(text: string): number | undefined {
  if (text === "Z" || text === "z") return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(3).replace(":", "") || 0);
  if (hours > 23 || minutes > 59) return undefined;
  return (text.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
