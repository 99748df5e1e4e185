/** Runs aggregate queries on roll-ups where they suffice, else on events. */
import type { CallOptions } from "@connectrpc/connect";
import { Measurement } from "#proto/daybook/metric/v1/metric_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { encodeId, type Uuid } from "#shared/values/ids.ts";
import type { Queryable } from "#shared/database/postgres.ts";
import type { Reader } from "#shared/database/reads.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import type { MetricContext } from "./context.ts";
import { dayOf, periodMicros, periodOf, spansOf } from "./domain/buckets.ts";
import { parseDecimal, zero } from "./domain/decimal.ts";
import type { AggregateQuery } from "./domain/aggregate-query.ts";
import { collectSeries, type Series, type SeriesCollector } from "./domain/series.ts";
import { pullMerges, replaceMerged } from "./merges.ts";
import { newProfileSet, type ProfileSet } from "./profile-set.ts";
import { readSetsOf } from "./sets.ts";
import { readOpenDays } from "./sql/open-days.ts";
import { findOrdinals } from "./sql/profiles.ts";
import { readProperties } from "./sql/properties.ts";
import { sumRollups, type ChosenParams } from "./sql/rollups.ts";

/** The metric of a query. */
export interface MetricRef {
  property: Uuid;
  metric: Uuid;
  name: string;
}

/** The values of one group, by bucket. */
export type AggregateSeries = Omit<Series<never>, "profiles"> & { uniqueProfiles: number[] };

// Above every stored ordinal.
const temporaryFrom = 2 ** 31;
const lookUpMax = 5_000;
const seriesMax = 1_000;
const valuesMax = 100_000;
// For the edges of the range that are no full quarter of an hour, which roll-ups do not hold.
const edgeEventsMax = 2_000_000;
// For whole ranges that roll-ups cannot answer.
const readEventsMax = 200_000;

/**
 * @param reader rejects after the caller cancelled.
 * @throws DaybookError `too_many_items` if there are too many groups, values or events.
 */
export async function answer(
  context: MetricContext,
  reader: Reader,
  asked: MetricRef,
  query: AggregateQuery,
  options: CallOptions,
): Promise<AggregateSeries[]> {
  const { starts, from, to, groupBy, measurements } = query;
  const withProfiles = measurements.has(Measurement.UNIQUE_PROFILES);
  const series = collectSeries<ProfileSet>(starts.length);
  const made: ProfileSet[] = [];
  const uncounted: { set: ProfileSet; packed: Uint8Array }[] = [];
  try {
    if (query.isRolledUp) {
      const first = periodOf(from + periodMicros - 1);
      const last = periodOf(to);
      const edges: [Micros, Micros][] =
        first < last
          ? [
              [from, first],
              [last, to],
            ]
          : [[from, to]];
      // Nothing counts twice, because roll-ups and edges cover different quarters of an hour.
      for (const [begin, end] of edges) if (begin < end) await addEvents(begin, end, edgeEventsMax);
      if (first < last) {
        await reader.inSnapshot((snapshot) => addRollups(snapshot, first, last));
      }
    } else await addEvents(from, to, readEventsMax);
    if (groupBy.length === 0 && series.size === 0) series.add(0, [], 0, zero);
    const all = series.all();
    if (withProfiles) {
      // First, because it gives ordinals to all merged profiles.
      await pullMerges(context, asked.property, options);
      await addUncounted();
      await replaceMerged(reader, asked.property, made);
    }
    return all.map(({ values, count, sum, profiles }) => ({
      values,
      count,
      sum,
      uniqueProfiles: profiles.map((set) => set?.size ?? 0),
    }));
  } finally {
    for (const set of made) set.dispose();
  }

  /** The set of a bucket, created if it is missing. */
  function setOf(one: Series<ProfileSet>, bucket: number): ProfileSet {
    const known = one.profiles[bucket];
    if (known) return known;
    const set = newProfileSet();
    made.push(set);
    one.profiles[bucket] = set;
    return set;
  }

  async function addEvents(begin: Micros, end: Micros, eventsMax: number): Promise<void> {
    const bucketStarts = [begin, ...starts.filter((start) => start > begin && start < end)];
    const offset = starts.findLastIndex((start) => start <= begin);
    const request = {
      propertyId: encodeId("prop", asked.property),
      type: asked.name,
      bucketStarts: bucketStarts.map((at) => toTimestamp(at)),
      to: toTimestamp(end),
      groupBy: [...groupBy],
      conditions: query.conditions.map(({ field, valueJson }) => ({ field, valueJson })),
      withProfiles,
      eventsMax,
    };
    const { groups } = await context.events.aggregateEvents(request, options);
    for (const { bucket, valuesJson, count, sum, profileIds } of groups) {
      const at = offset + bucket;
      const one = series.add(at, valuesJson, Number(count), sum === undefined ? zero : parseDecimal(sum));
      checkSize(series, starts.length);
      if (profileIds.length > 0) uncounted.push({ set: setOf(one, at), packed: profileIds });
    }
  }

  /**
   * Adds profiles of events, after the roll-ups were read, because counted profiles have an ordinal then. The others
   * get a temporary ordinal, for this answer only.
   */
  async function addUncounted(): Promise<void> {
    const ordinals = new Map<string, number>();
    let next = temporaryFrom;
    for (const { set, packed } of uncounted) {
      for (let at = 0; at < packed.length; at += lookUpMax * uuidBytes) {
        const ids = uuidsOf(packed.subarray(at, at + lookUpMax * uuidBytes));
        const unknown = ids.filter((id) => !ordinals.has(id));
        // Other requests run during the query.
        for (const row of await findOrdinals(reader, [asked.property, unknown])) {
          ordinals.set(row.profile_id, row.number);
        }
        for (const id of ids) {
          if (!ordinals.has(id)) ordinals.set(id, next++);
          set.add(ordinals.get(id) as number);
        }
      }
    }
  }

  async function addRollups(snapshot: Queryable, begin: Micros, end: Micros): Promise<void> {
    const [property] = await readProperties(snapshot, [[asked.property]]);
    if (!property) return;
    const columns = chosenColumns(query);
    if (!columns) return;
    const chosen: ChosenParams = [asked.property, asked.metric, property.generation, columns.source, columns.currency];
    const range = [formatMicros(begin), formatMicros(end)] as const;
    for (const row of await sumRollups(snapshot, [...chosen, ...range, starts.map(formatMicros)])) {
      series.add(row.bucket, groupOf(row), row.events, parseDecimal(row.value));
      checkSize(series, starts.length);
    }
    if (!withProfiles) return;
    const days = await readOpenDays(snapshot, [
      asked.property,
      asked.metric,
      property.generation,
      formatMicros(dayOf(begin)),
      range[1],
    ]);
    const open = new Set(days.map(({ day }) => day));
    const spans = spansOf(begin, end, starts, (day) => open.has(day));
    let bucket = 0;
    for await (const { period, set, ...row } of readSetsOf(snapshot, chosen, spans)) {
      while ((starts[bucket + 1] ?? Number.POSITIVE_INFINITY) <= period) bucket++;
      setOf(series.add(bucket, groupOf(row), 0, zero), bucket).orInPlace(set);
    }
  }

  function groupOf({ source, currency }: { source: string; currency: string }): string[] {
    return groupBy.map((field) => JSON.stringify(field === "source" ? source : currency === "" ? null : currency));
  }
}

/** Conditions on the columns of roll-ups; null matches all. Undefined if no event can match. */
function chosenColumns({ conditions }: AggregateQuery): { source: string | null; currency: string | null } | undefined {
  const chosen: { source: string | null; currency: string | null } = { source: null, currency: null };
  for (const { field, valueJson } of conditions) {
    const value: unknown = JSON.parse(valueJson);
    const text =
      typeof value === "string" && value !== "" ? value : value === null && field === "currency" ? "" : undefined;
    if (text === undefined) return undefined;
    const column = field === "source" ? "source" : "currency";
    if (chosen[column] !== null && chosen[column] !== text) return undefined;
    chosen[column] = text;
  }
  return chosen;
}

function checkSize({ size }: SeriesCollector<ProfileSet>, buckets: number): void {
  if (size <= seriesMax && size * buckets <= valuesMax) return;
  const message =
    `There are more groups than can be answered: at most ${seriesMax}, ` +
    `and ${valuesMax} values of each measurement in all.`;
  throw new DaybookError("too_many_items", message, { param: "group_by" });
}

const uuidBytes = 16;

/** Splits concatenated 16-byte UUIDs. */
function uuidsOf(packed: Uint8Array): Uuid[] {
  const hex = Buffer.from(packed.buffer, packed.byteOffset, packed.length).toString("hex");
  return Array.from({ length: packed.length / uuidBytes }, (_, index) => {
    const uuid = hex.slice(index * 2 * uuidBytes, (index + 1) * 2 * uuidBytes);
    const head = `${uuid.slice(0, 8)}-${uuid.slice(8, 12)}-${uuid.slice(12, 16)}`;
    return `${head}-${uuid.slice(16, 20)}-${uuid.slice(20)}` as Uuid;
  });
}
