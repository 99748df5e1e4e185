/**
 * Registers metrics on request whose first event is recorded but not counted yet, so that a metric exists from the
 * answer to its first event on.
 */
import type { CallOptions } from "@connectrpc/connect";
import { EventSort } from "#proto/daybook/event/v1/event_pb.ts";
import { encodeId, type Uuid } from "#shared/values/ids.ts";
import { withTransaction, type Queryable } from "#shared/database/postgres.ts";
import type { MetricContext } from "./context.ts";
import { newMetric } from "./domain/system-metrics.ts";
import { readMetrics, registerMetrics, type MetricRow } from "./sql/metrics.ts";
import { tellOfNew } from "./telling.ts";

/**
 * Reads metrics by id or name, and registers missing names. The consumer counts their events later.
 * @param reader reads them first.
 * @param names of types that have events.
 */
export async function readOrRegister(
  { database, relay }: MetricContext,
  reader: Queryable,
  property: Uuid,
  ids: readonly Uuid[],
  names: readonly string[],
): Promise<MetricRow[]> {
  const rows = await readMetrics(reader, [property, ids, names]);
  const known = new Set(rows.map(({ name }) => name));
  const missing = [...new Set(names)].filter((name) => !known.has(name));
  if (missing.length === 0) return rows;
  const registered = await withTransaction(database, async (tx) => {
    const made = await registerMetrics(tx, [property, missing.map(newMetric)]);
    await tellOfNew(tx, relay, property, made);
    return made;
  });
  if (registered.length > 0) relay.wake();
  return readMetrics(database, [property, ids, names]);
}

/** Finds a metric by name. A missing one is registered if the event service has an event of the type. */
export async function findByName(
  context: MetricContext,
  reader: Queryable,
  property: Uuid,
  name: string,
  options: CallOptions,
): Promise<MetricRow | undefined> {
  const [row] = await readMetrics(reader, [property, [], [name]]);
  if (row) return row;
  const request = { propertyId: encodeId("prop", property), type: name, sort: EventSort.OCCURRED_AT, limit: 1 };
  const found = await context.events.listEvents(request, options);
  if (found.events.length === 0) return undefined;
  return (await readOrRegister(context, reader, property, [], [name]))[0];
}
