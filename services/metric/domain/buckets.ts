/** Time buckets: quarters of an hour in storage, civil hours to months in answers. */
import type { Micros } from "#shared/values/clock.ts";

/** Civil length of a bucket; undefined for a single bucket. */
export type IntervalName = "hour" | "day" | "week" | "month" | undefined;

/** The length of a roll-up. Since 1972 every time zone's offset has been a multiple of it. */
export const periodMicros = 15 * 60 * 1_000_000;

/** Start of the period of an instant. */
export function periodOf(micros: Micros): Micros {
  return Math.floor(micros / periodMicros) * periodMicros;
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
