/**
 * Makes the longer sets of profiles of a day once it is over, so that long ranges are answered from few sets. What is
 * counted later opens the day again: until it is closed again, its quarters of an hour answer.
 */
import type { Micros } from "#shared/values/clock.ts";
import { withTransaction, type Transaction } from "#shared/database/postgres.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { MetricContext } from "./context.ts";
import { dayMicros, periodOf, setMinutes, type SetMinutes, type Span } from "./domain/buckets.ts";
import { newProfileSet, writeProfileSet, type ProfileSet } from "./profile-set.ts";
import { readSetsOf } from "./sets.ts";
import { lockMetrics, readMetrics } from "./sql/metrics.ts";
import { closeDay, findDaysToClose, postponeDay, type OpenDayRow } from "./sql/open-days.ts";
import { readProperties } from "./sql/properties.ts";
import { writeSets, type ChosenParams } from "./sql/rollups.ts";

/** Interval of looking for days to close. */
export const closeIntervalMs = 5_000;

// So a day that much comes late for is made again four times an hour at most.
const openSeconds = 15 * 60;
const daysMax = 100;
const longMinutes = setMinutes.filter((minutes) => minutes > 15);
const setsPerStatement = 50;

/** Closes all days that are over and have been open for a while. */
export async function closeDays({ database, clock, log }: MetricContext, signal: AbortSignal): Promise<void> {
  for (let hasClosed = true; hasClosed;) {
    hasClosed = false;
    const before = formatMicros(clock.nowMicros() - dayMicros - openSeconds * 1_000_000);
    const days = await findDaysToClose(database, [before, openSeconds, daysMax]);
    // So that several processes close different days.
    const first = Math.floor(Math.random() * days.length);
    for (const row of [...days.slice(first), ...days.slice(0, first)]) {
      if (signal.aborted) return;
      try {
        if (await withTransaction(database, (tx) => close(tx, row))) hasClosed = true;
      } catch (error) {
        const { property_id: property, metric_id: metric, generation, day } = row;
        log.error({ err: error, metric, day: formatMicros(day) }, "a day could not be closed and is tried again later");
        // So that it holds up no others.
        await postponeDay(database, [property, metric, generation, formatMicros(day)]);
      }
    }
  }
}

interface LongSet {
  minutes: SetMinutes;
  period: Micros;
  source: string;
  currency: string;
  set: ProfileSet;
}

/** @returns whether this call closed the day, and not another process. */
async function close(tx: Transaction, row: OpenDayRow): Promise<boolean> {
  const { property_id: property, metric_id: metric, generation, day } = row;
  const [named] = await readMetrics(tx, [property, [metric], []]);
  if (!named) throw new Error("the metric has no row");
  await lockMetrics(tx, [property, [named.name]]);
  const closed = await closeDay(tx, [property, metric, generation, formatMicros(day)]);
  if (closed.length === 0) return false;
  const [shown] = await readProperties(tx, [[property]]);
  // Nothing reads an older generation, and its sets are being deleted.
  if (!shown || generation < shown.generation) return true;
  const sets = new Map<string, LongSet>();
  try {
    const quarters: Span[] = [{ minutes: 15, from: day, to: day + dayMicros }];
    const all: ChosenParams = [property, metric, generation, null, null];
    for await (const { period, source, currency, set } of readSetsOf(tx, all, quarters)) {
      for (const minutes of longMinutes) add(minutes, period, source, currency, set);
    }
    const rows = [...sets.values()].map(({ set, ...key }) => ({
      ...key,
      metric_id: metric,
      profiles: writeProfileSet(set),
    }));
    for (let at = 0; at < rows.length; at += setsPerStatement) {
      await writeSets(tx, [property, generation, rows.slice(at, at + setsPerStatement)]);
    }
    return true;
  } finally {
    for (const { set } of sets.values()) set.dispose();
  }

  function add(minutes: SetMinutes, quarter: Micros, source: string, currency: string, part: ProfileSet): void {
    const period = periodOf(quarter, minutes);
    const key = `${minutes} ${period} ${currency} ${source}`;
    const known = sets.get(key);
    if (known) known.set.orInPlace(part);
    else {
      const set = newProfileSet();
      set.orInPlace(part);
      sets.set(key, { minutes, period, source, currency, set });
    }
  }
}
