/** Time buckets: quarters of an hour in storage, civil hours to months in answers. */
import type { Micros } from "#shared/values/clock.ts";

/** Civil length of a bucket; undefined for a single bucket. */
export type IntervalName = "hour" | "day" | "week" | "month" | undefined;

/** The length of a roll-up. Since 1972 every time zone's offset has been a multiple of it. */
export const periodMicros = 15 * 60 * 1_000_000;

/**
 * Lengths of the periods that have a set of profiles, longest first; each is a multiple of the next. In time zones that
 * begin their days beside UTC's, a day of 24 hours takes at most 13 sets of each source and currency.
 */
export const setMinutes = [1440, 180, 60, 15] as const;

export type SetMinutes = (typeof setMinutes)[number];

const minuteMicros = 60_000_000;
/** A day in UTC. */
export const dayMicros = 1440 * minuteMicros;

/** Start of the period of that length in which an instant is; by default its quarter of an hour. */
export function periodOf(micros: Micros, minutes: SetMinutes = 15): Micros {
  const length = minutes * minuteMicros;
  return Math.floor(micros / length) * length;
}

/** Start of the day in UTC in which an instant is. */
export function dayOf(micros: Micros): Micros {
  return periodOf(micros, 1440);
}

/** A range that consists of periods of one length. */
export interface Span {
  minutes: SetMinutes;
  from: Micros;
  to: Micros;
}

export function countPeriods({ minutes, from, to }: Span): number {
  return (to - from) / (minutes * minuteMicros);
}

/**
 * Splits [from, to) into periods that are as long as can be and lie in one bucket each.
 * @param from a full quarter of an hour, as are `to` and all starts after it.
 * @param isOpen whether the day that begins then has no long periods.
 * @returns adjoining periods of one length as one span.
 */
export function spansOf(from: Micros, to: Micros, starts: readonly Micros[], isOpen: (day: Micros) => boolean): Span[] {
  const spans: Span[] = [];
  const boundaries = [...starts.filter((start) => start > from && start < to), to];
  let at = from;
  for (const end of boundaries) {
    while (at < end) {
      const fits = (minutes: SetMinutes): boolean => periodOf(at, minutes) === at && at + minutes * minuteMicros <= end;
      const minutes = isOpen(dayOf(at)) ? 15 : (setMinutes.find(fits) ?? 15);
      const next = at + minutes * minuteMicros;
      const last = spans.at(-1);
      if (last?.minutes === minutes) last.to = next;
      else spans.push({ minutes, from: at, to: next });
      at = next;
    }
  }
  return spans;
}

/**
 * Splits [from, to) at civil boundaries: full hours, midnights, Mondays, firsts of months. The first bucket begins at
 * `from`.
 * @param timezone IANA name.
 * @returns the starts; undefined if there are more than `max`.
 */
export function bucketStarts(
  from: Micros,
  to: Micros,
  interval: IntervalName,
  timezone: string,
  max: number,
): Micros[] | undefined {
  const starts = [from];
  if (interval === undefined) return starts;
  for (const boundary of boundariesAfter(from, interval, timezone)) {
    if (boundary >= to) return starts;
    if (starts.length === max) return undefined;
    // If a calendar skips a day, two midnights are the same instant.
    if (boundary > (starts.at(-1) as Micros)) starts.push(boundary);
  }
  return starts;
}

/** The civil boundaries after an instant, without end. */
function* boundariesAfter(
  from: Micros,
  interval: Exclude<IntervalName, undefined>,
  timezone: string,
): Generator<Micros, void> {
  const start = Temporal.Instant.fromEpochNanoseconds(BigInt(from) * 1000n).toZonedDateTimeISO(timezone);
  if (interval === "hour") {
    let change = start.getTimeZoneTransition("next");
    for (let at = start; ; yield microsOf(at)) {
      const past = (at.minute * 60 + at.second) * 1_000_000 + at.millisecond * 1000 + at.microsecond;
      let next = at.add({ microseconds: 3_600_000_000 - past });
      // An offset change that is not at a full hour starts a new bucket.
      if (change && Temporal.ZonedDateTime.compare(change, next) < 0) next = change;
      if (change && Temporal.ZonedDateTime.compare(change, next) <= 0) change = next.getTimeZoneTransition("next");
      at = next;
    }
  }
  const today = start.toPlainDate();
  const first =
    interval === "month"
      ? today.with({ day: 1 })
      : today.subtract({ days: interval === "week" ? today.dayOfWeek - 1 : 0 });
  for (let count = 1; ; count++) {
    const date = first.add(
      interval === "day" ? { days: count } : interval === "week" ? { weeks: count } : { months: count },
    );
    yield microsOf(date.toZonedDateTime(timezone));
  }
}

function microsOf(time: Temporal.ZonedDateTime): Micros {
  return Number(time.epochNanoseconds / 1000n);
}
