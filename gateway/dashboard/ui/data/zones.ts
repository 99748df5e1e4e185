/** Time zones: civil times, and where the intervals of metrics begin. Daybook parts them the same way. */
import type { Reader } from "./search.ts";

export type Interval = "hour" | "day" | "week" | "month";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const formats = new Map<string, Intl.DateTimeFormat>();

/** All zones that the browser knows, UTC first. */
export function zoneNames(): readonly string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")];
}

/** A zone in the URL. */
export const zoneText: Reader<string> = (given) => (isZone(given) ? given : undefined);

function isZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat(undefined, { timeZone: name }));
  } catch {
    return false;
  }
}

/** A date whose UTC fields are the civil time of a zone. */
export function civilOf(at: Date, zone: string): Date {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(zone, format);
  }
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return new Date(Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second")));
}

/** The first instant of a civil time. Of one that a clock change skips, the instant of the change. */
function instantOf(civil: Date, zone: string): Date {
  // A day before and a day after, a change between them has another offset on each side.
  const candidates = [-dayMs, dayMs]
    .map((shift) => new Date(civil.getTime() + shift))
    .map((near) => new Date(civil.getTime() - (civilOf(near, zone).getTime() - near.getTime())));
  const exact = candidates.filter((at) => civilOf(at, zone).getTime() === civil.getTime());
  const of = exact.length > 0 ? Math.min : Math.max;
  return new Date(of(...(exact.length > 0 ? exact : candidates).map((at) => at.getTime())));
}

/** When the interval of an instant begins, or with `ahead` the one after it. Weeks begin on Monday. */
export function startOf(interval: Interval, at: Date, zone: string, ahead: 0 | 1 = 0): Date {
  const civil = civilOf(at, zone);
  if (interval === "hour") {
    // An hour that a clock change repeats is two intervals.
    const passed = civil.getTime() % hourMs;
    return new Date(Math.floor(at.getTime() / 1000) * 1000 - passed + ahead * hourMs);
  }
  const midnight = Math.floor(civil.getTime() / dayMs) * dayMs;
  if (interval === "day") return instantOf(new Date(midnight + ahead * dayMs), zone);
  if (interval === "week") {
    const monday = midnight - ((civil.getUTCDay() + 6) % 7) * dayMs;
    return instantOf(new Date(monday + ahead * 7 * dayMs), zone);
  }
  return instantOf(new Date(Date.UTC(civil.getUTCFullYear(), civil.getUTCMonth() + ahead, 1)), zone);
}

/** The begin of an interval in words: a date, and for hours the time with the offset. */
export function intervalTitle(interval: Interval | undefined, zone: string): (at: Date) => string {
  const forms: Record<Interval, Intl.DateTimeFormatOptions> = {
    hour: {
      month: "short",
      day: "numeric",
      year: "numeric",
      hour: "numeric",
      minute: "2-digit",
      timeZoneName: "short",
    },
    day: { weekday: "short", month: "short", day: "numeric", year: "numeric" },
    week: { month: "short", day: "numeric", year: "numeric" },
    month: { month: "long", year: "numeric" },
  };
  const format = new Intl.DateTimeFormat(undefined, { ...forms[interval ?? "hour"], timeZone: zone });
  return (at) => format.format(at);
}
