/** The last days of a time zone. */
import type { Micros } from "#shared/values/clock.ts";
import { checkFaults, type FieldError } from "#shared/values/errors.ts";
import { findTimezone } from "#shared/values/places.ts";

/** Days in order. */
export interface Days {
  /** When each begins; the last is today. */
  starts: Micros[];
  /** When today ends. */
  to: Micros;
}

const daysMax = 90;

/**
 * The last `days` days, with the one that has begun. A day begins at the first instant of its date.
 * @throws DaybookError with every field at fault.
 */
export function lastDays({ days, timezone }: { days: number; timezone: string }, now: Micros): Days {
  const faults: FieldError[] = [];
  const note = (param: string, message: string): void => {
    faults.push({ code: "parameter_invalid", message, param });
  };
  if (days < 1 || days > daysMax) note("days", `\`days\` must be a whole number from 1 to ${daysMax}.`);
  const zone = findTimezone(timezone);
  if (zone === undefined) {
    note("timezone", '`timezone` must be the name of an IANA time zone such as "Europe/Lisbon".');
  }
  checkFaults(faults);
  const today = Temporal.Instant.fromEpochNanoseconds(BigInt(now) * 1000n)
    .toZonedDateTimeISO(zone as string)
    .toPlainDate();
  const startOf = (offset: number): Micros =>
    Number(today.add({ days: offset }).toZonedDateTime(zone as string).epochNanoseconds / 1000n);
  const starts = Array.from({ length: days }, (_, index) => startOf(index + 1 - days));
  // If a calendar skips a day, two midnights are the same instant.
  return { starts: starts.filter((start, index) => start !== starts[index + 1]), to: startOf(1) };
}
