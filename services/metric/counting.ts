/** Adds deltas of events to metrics and roll-ups. Lock order: metrics by name, then the row of the property. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { mergeSchema, type ObservedSchema } from "#shared/values/observed-schema.ts";
import type { Transaction } from "#shared/database/postgres.ts";
import type { OutboxRelay } from "#shared/outbox/outbox.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import { formatDecimal } from "./domain/decimal.ts";
import { dayOf } from "./domain/buckets.ts";
import { addEvent, type RollupCell, type MetricDelta } from "./domain/metric-delta.ts";
import { newMetric } from "./domain/system-metrics.ts";
import type { Ordinals, ProfileOrdinals } from "./ordinals.ts";
import { tellOfNew } from "./telling.ts";
import { withOrdinals } from "./profile-set.ts";
import { lockMetrics, registerMetrics, updateMetrics } from "./sql/metrics.ts";
import { openDays } from "./sql/open-days.ts";
import { addToRollups, readSets, writeSets } from "./sql/rollups.ts";

/** The deltas of events by type. Yields between events, because their properties may be large. */
export async function deltasOf(events: readonly Event[]): Promise<Map<string, MetricDelta>> {
  const deltas = new Map<string, MetricDelta>();
  const steps = new Steps();
  for (const event of events) {
    await steps.next();
    addEvent(deltas, event);
  }
  return deltas;
}

/** The roll-up cells of one metric. */
interface MetricCells {
  metricId: Uuid;
  cells: Iterable<RollupCell>;
}

/**
 * Updates metrics from deltas: times, source, schema and name. Registers new ones, and tells of them.
 * @param counted "new" adds to event counts; "anew", for a rebuild, does not.
 * @returns ids of the metrics by name.
 */
export async function learnMetrics(
  tx: Transaction,
  relay: OutboxRelay,
  property: Uuid,
  deltas: ReadonlyMap<string, MetricDelta>,
  counted: "new" | "anew",
): Promise<Map<string, Uuid>> {
  const names = [...deltas.keys()];
  let metrics = await lockMetrics(tx, [property, names]);
  let registered: readonly { name: string }[] = [];
  if (metrics.length < names.length) {
    registered = await registerMetrics(tx, [property, names.map(newMetric)]);
    metrics = await lockMetrics(tx, [property, names]);
  }
  const updates = metrics.map((metric) => {
    const delta = deltas.get(metric.name);
    if (!delta) throw new Error("a metric was read that was not asked for");
    const schema: ObservedSchema = new Map(Object.entries(metric.schema));
    const { original } = delta;
    const isFirstName = original && (metric.original_name_at === null || original.at < metric.original_name_at);
    const isEarlier = metric.first_seen_at === null || delta.firstSeenAt < metric.first_seen_at;
    return {
      id: metric.id,
      count: counted === "new" ? delta.count : 0,
      first_seen_at: isEarlier ? delta.firstSeenAt : (metric.first_seen_at as Micros),
      source: isEarlier ? delta.source : metric.source,
      schema: learned(schema, delta.schema) ? JSON.stringify(Object.fromEntries(schema)) : null,
      first_occurred_at: delta.firstOccurredAt,
      last_occurred_at: delta.lastOccurredAt,
      last_received_at: delta.lastReceivedAt,
      original_name: isFirstName ? original.name : null,
      original_name_at: isFirstName ? original.at : null,
    };
  });
  await updateMetrics(tx, [property, updates]);
  await tellOfNew(tx, relay, property, registered);
  return new Map(metrics.map(({ name, id }) => [name, id]));
}

/** The cells of deltas by metric. */
export function cellsOf(deltas: ReadonlyMap<string, MetricDelta>, ids: ReadonlyMap<string, Uuid>): MetricCells[] {
  return [...deltas].map(([name, { cells }]) => ({ metricId: ids.get(name) as Uuid, cells: cells.values() }));
}

/** Adds cells to a generation of roll-ups. Their metrics must be locked. @returns the ordinals of their profiles. */
export async function addCells(
  tx: Transaction,
  ordinals: ProfileOrdinals,
  property: Uuid,
  generation: number,
  metrics: readonly MetricCells[],
): Promise<Ordinals> {
  const rows = metrics.flatMap(({ metricId, cells }) => [...cells].map((cell) => ({ metricId, cell })));
  const counted = rows.filter(({ cell }) => cell.count > 0);
  if (counted.length > 0) {
    const rollups = counted.map(({ metricId, cell }) => ({
      ...keyOf(metricId, cell),
      events: cell.count,
      value: formatDecimal(cell.value),
    }));
    await addToRollups(tx, [property, generation, rollups]);
  }
  const withProfiles = rows.filter(({ cell }) => cell.profileIds.size > 0);
  if (withProfiles.length === 0) return new Map();
  const given = await ordinals.give(
    tx,
    property,
    withProfiles.flatMap(({ cell }) => [...cell.profileIds]),
  );
  const keys = withProfiles.map(({ metricId, cell }, at) => ({ ...keyOf(metricId, cell), at }));
  const before = new Map((await readSets(tx, [property, generation, keys])).map(({ at, profiles }) => [at, profiles]));
  const sets = withProfiles.map(({ metricId, cell }, at) => {
    const ordinalsOfCell = [...cell.profileIds].map((id) => given.get(id) as number);
    return { ...keyOf(metricId, cell), minutes: 15, profiles: withOrdinals(before.get(at), ordinalsOfCell) };
  });
  await writeSets(tx, [property, generation, sets]);
  const days = new Map(
    withProfiles.map(({ metricId, cell }) => {
      const day = dayOf(cell.period);
      return [`${metricId} ${day}`, { metric_id: metricId, day }];
    }),
  );
  await openDays(tx, [property, generation, [...days.values()]]);
  return given;
}

function keyOf(metric: Uuid, { period, source, currency }: RollupCell) {
  return { metric_id: metric, period, source, currency };
}

/** Merges an observed schema into a schema. @returns whether it changed. */
function learned(schema: ObservedSchema, observed: ObservedSchema): boolean {
  const before = new Map(schema);
  mergeSchema(schema, observed);
  return schema.size !== before.size || [...schema].some(([path, type]) => before.get(path) !== type);
}
