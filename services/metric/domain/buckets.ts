/** Spans of time that events are counted in: quarters of an hour where they are kept, civil hours to months where they are shown. */
import type { Micros } from "#shared/values/clock.ts";

/** How long a bucket is by civil time; undefined for one that holds all. */
export type IntervalName = "hour" | "day" | "week" | "month" | undefined;

/** A roll-up holds a quarter of an hour. Since 1972 the offset of every time zone has been a multiple of that. */
export const periodMicros = 15 * 60 * 1_000_000;

/** When the period of an instant begins. */
export function periodOf(micros: Micros): Micros {
  return Math.floor(micros / periodMicros) * periodMicros;
}

/**
 * Parts [from, to) at the boundaries of civil time: whole hours, midnights, Mondays, firsts of months. The first bucket begins at `from`,
 * wherever that lies.
 * @param timezone IANA name.
 * @returns when each begins; undefined when there are more than `max`.
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
    // Where a calendar leaves out a day, two midnights are the same instant.
    if (boundary > (starts.at(-1) as Micros)) starts.push(boundary);
  }
  return starts;
}

/** The civil boundaries from the bucket of an instant on, without end. */
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
      // A clock that is put on or back by less than an hour, and not at a full one, begins another hour there and then.
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
