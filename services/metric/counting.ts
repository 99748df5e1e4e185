/** Counts digests of events into metrics and roll-ups. Locks metrics first, in the order of their names, then what belongs to the property. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { mergeSchema, type ObservedSchema } from "#shared/values/observed-schema.ts";
import type { Transaction } from "#shared/database/postgres.ts";
import { Steps } from "#shared/scheduling/steps.ts";
import { formatDecimal } from "./domain/decimal.ts";
import { digestEvent, type Cell, type Digest } from "./domain/digest.ts";
import { newMetric } from "./domain/system-metrics.ts";
import type { Numbers, ProfileNumbers } from "./numbers.ts";
import { withNumbers } from "./profile-set.ts";
import { lockMetrics, registerMetrics, updateMetrics } from "./sql/metrics.ts";
import { addToRollups, readSets, writeSets } from "./sql/rollups.ts";

/** Digests events by type, in steps: their properties may be large. */
export async function digestEvents(events: readonly Event[]): Promise<Map<string, Digest>> {
  const digests = new Map<string, Digest>();
  const steps = new Steps();
  for (const event of events) {
    await steps.next();
    digestEvent(digests, event);
  }
  return digests;
}

/** Cells of one metric. */
interface MetricCells {
  metricId: Uuid;
  cells: Iterable<Cell>;
}

/**
 * Learns what digests say of the metrics themselves: that they are there, when, and their schema. Registers those that are new.
 * @param counted whether their events are new, or counted anew.
 * @returns the metrics' ids by name.
 */
export async function learnMetrics(
  tx: Transaction,
  property: Uuid,
  digests: ReadonlyMap<string, Digest>,
  counted: "new" | "anew",
): Promise<Map<string, Uuid>> {
  const names = [...digests.keys()];
  let metrics = await lockMetrics(tx, [property, names]);
  if (metrics.length < names.length) {
    await registerMetrics(tx, [property, names.map(newMetric)]);
    metrics = await lockMetrics(tx, [property, names]);
  }
  const updates = metrics.map((metric) => {
    const digest = digests.get(metric.name);
    if (!digest) throw new Error("a metric was read that was not asked for");
    const schema: ObservedSchema = new Map(Object.entries(metric.schema));
    const { original } = digest;
    const isFirstName = original && (metric.original_name_at === null || original.at < metric.original_name_at);
    const isEarlier = metric.first_seen_at === null || digest.firstSeenAt < metric.first_seen_at;
    return {
      id: metric.id,
      count: counted === "new" ? digest.count : 0,
      first_seen_at: isEarlier ? digest.firstSeenAt : (metric.first_seen_at as Micros),
      source: isEarlier ? digest.source : metric.source,
      schema: learned(schema, digest.schema) ? JSON.stringify(Object.fromEntries(schema)) : null,
      first_occurred_at: digest.firstOccurredAt,
      last_occurred_at: digest.lastOccurredAt,
      last_received_at: digest.lastReceivedAt,
      original_name: isFirstName ? original.name : null,
      original_name_at: isFirstName ? original.at : null,
    };
  });
  await updateMetrics(tx, [property, updates]);
  return new Map(metrics.map(({ name, id }) => [name, id]));
}

/** The cells of digests, by metric. */
export function cellsOf(digests: ReadonlyMap<string, Digest>, ids: ReadonlyMap<string, Uuid>): MetricCells[] {
  return [...digests].map(([name, { cells }]) => ({ metricId: ids.get(name) as Uuid, cells: cells.values() }));
}

/** Adds cells to the roll-ups of a generation. Their metrics must be locked. @returns the numbers of their profiles. */
export async function addCells(
  tx: Transaction,
  numbers: ProfileNumbers,
  property: Uuid,
  generation: number,
  metrics: readonly MetricCells[],
): Promise<Numbers> {
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
  const given = await numbers.give(
    tx,
    property,
    withProfiles.flatMap(({ cell }) => [...cell.profileIds]),
  );
  const keys = withProfiles.map(({ metricId, cell }, at) => ({ ...keyOf(metricId, cell), at }));
  const before = new Map((await readSets(tx, [property, generation, keys])).map(({ at, profiles }) => [at, profiles]));
  const sets = withProfiles.map(({ metricId, cell }, at) => {
    const numbersOfCell = [...cell.profileIds].map((id) => given.get(id) as number);
    return { ...keyOf(metricId, cell), profiles: withNumbers(before.get(at), numbersOfCell) };
  });
  await writeSets(tx, [property, generation, sets]);
  return given;
}

function keyOf(metric: Uuid, { period, source, currency }: Cell) {
  return { metric_id: metric, period, source, currency };
}

/** Adds to a schema what is new. @returns whether anything was. */
function learned(schema: ObservedSchema, observed: ObservedSchema): boolean {
  const before = new Map(schema);
  mergeSchema(schema, observed);
  return schema.size !== before.size || [...schema].some(([path, type]) => before.get(path) !== type);
}
