import { fromBinary } from "@bufbuild/protobuf";
import { EventsRecordedSchema, type EventsRecorded } from "#proto/daybook/event/v1/event_pb.ts";
import type { BusHandler } from "#shared/bus.ts";
import { decodeId, newUuid } from "#shared/ids.ts";
import { withTransaction, type Transaction } from "#shared/postgres.ts";
import type { ServiceContext } from "#shared/service.ts";
import { formatMicros } from "#shared/time.ts";
import { addDigest, digestEvents, type Digest } from "../domain/digest.ts";
import { isSystemMetric } from "../domain/system-metrics.ts";
import { mergeSchema, type ObservedSchema } from "../domain/schema.ts";
import { takeBatches } from "../sql/batches.ts";
import { lockMetrics, registerMetrics, updateMetrics } from "../sql/metrics.ts";

/** Registers the metric of each event type, counts its events and learns their schema. A batch that comes again changes nothing. */
export function eventsRecorded({ database, clock }: ServiceContext): BusHandler {
  return async (messages) => {
    const batches = messages.map(({ payload }) => fromBinary(EventsRecordedSchema, payload));
    await withTransaction(database, async (tx) => {
      const fresh = await takeFresh(tx, batches, formatMicros(clock.nowMicros()));
      if (fresh.length > 0) await learn(tx, fresh);
    });
  };
}

async function takeFresh(tx: Transaction, batches: readonly EventsRecorded[], now: string): Promise<EventsRecorded[]> {
  const properties = batches.map(({ propertyId }) => propertyUuid(propertyId));
  const taken = await takeBatches(tx, [properties, batches.map(({ batchId }) => batchId), now]);
  const fresh = new Set(taken.map(({ id }) => id));
  // Takes each id out, so that a batch that stands in the list twice is taken once.
  return batches.filter(({ batchId }) => fresh.delete(batchId));
}

async function learn(tx: Transaction, batches: readonly EventsRecorded[]): Promise<void> {
  const digests = new Map<string, Digest>();
  for (const { propertyId, events } of batches) {
    const property = propertyUuid(propertyId);
    for (const [name, digest] of digestEvents(events)) addDigest(digests, metricKey(property, name), digest);
  }
  const keys = [...digests.keys()].map(splitMetricKey);
  const wanted = [keys.map(({ property }) => property), keys.map(({ name }) => name)];
  let metrics = await lockMetrics(tx, wanted);
  if (metrics.length < keys.length) {
    await registerMetrics(tx, [wanted[0], keys.map(newUuid), wanted[1], keys.map(({ name }) => isSystemMetric(name))]);
    metrics = await lockMetrics(tx, wanted);
  }
  const updates = metrics.map((metric) => {
    const digest = digests.get(metricKey(metric.property_id, metric.name));
    if (!digest) throw new Error("a metric was read that was not asked for");
    const schema: ObservedSchema = new Map(Object.entries(metric.schema));
    const isEarlier = metric.first_seen_at === null || digest.firstSeenAt < metric.first_seen_at;
    return {
      property: metric.property_id,
      id: metric.id,
      count: digest.count,
      firstSeenAt: formatMicros(isEarlier ? digest.firstSeenAt : (metric.first_seen_at as number)),
      source: isEarlier ? digest.source : metric.source,
      schema: learned(schema, digest.schema) ? JSON.stringify(Object.fromEntries(schema)) : null,
    };
  });
  await updateMetrics(tx, [
    updates.map(({ property }) => property),
    updates.map(({ id }) => id),
    updates.map(({ count }) => count),
    updates.map(({ firstSeenAt }) => firstSeenAt),
    updates.map(({ source }) => source),
    updates.map(({ schema }) => schema),
  ]);
}

/** Adds to a schema what is new. @returns whether anything was. */
function learned(schema: ObservedSchema, observed: ObservedSchema): boolean {
  const before = new Map(schema);
  mergeSchema(schema, observed);
  return schema.size !== before.size || [...schema].some(([path, type]) => before.get(path) !== type);
}

function propertyUuid(propertyId: string): string {
  return decodeId("prop", propertyId, "property_id");
}

function metricKey(property: string, name: string): string {
  return `${property} ${name}`;
}

function splitMetricKey(key: string): { property: string; name: string } {
  const [property = "", name = ""] = key.split(" ");
  return { property, name };
}
