import { fromBinary } from "@bufbuild/protobuf";
import { EventsRecordedSchema, type Event, type EventsRecorded } from "#proto/daybook/event/v1/event_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import type { Micros } from "#shared/values/clock.ts";
import { decodeId, type Uuid, toUuid } from "#shared/values/ids.ts";
import { withTransaction, type Transaction } from "#shared/database/postgres.ts";
import { traced } from "#shared/tracing/spans.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import type { MetricContext } from "../context.ts";
import { addCells, cellsOf, deltasOf, learnMetrics } from "../counting.ts";
import { addDelta, type MetricDelta } from "../domain/metric-delta.ts";
import type { Ordinals } from "../ordinals.ts";
import { findProperties } from "../properties.ts";
import { recordOnce } from "../once.ts";
import type { PropertyRow } from "../sql/properties.ts";

/** Registers metrics, counts their events and merges their schema. Idempotent: a batch counts once. */
export function eventsRecorded(context: MetricContext): BusHandler {
  const { database, clock, ordinals, relay } = context;
  return async (messages) => {
    const batches = messages.map(({ payload }) => fromBinary(EventsRecordedSchema, payload));
    const given = await withTransaction(database, async (tx) => {
      const fresh = await takeFresh(tx, batches, clock.nowMicros());
      const byProperty = Map.groupBy(fresh, ({ propertyId }) => propertyUuid(propertyId));
      const properties = await findProperties(tx, [...byProperty.keys()].toSorted());
      const all: [Uuid, Ordinals][] = [];
      for (const property of properties) {
        const { property_id: id } = property;
        all.push([id, await traced("metric.roll_up", () => count(tx, property, byProperty.get(id) ?? []))]);
      }
      return all;
    });
    for (const [property, some] of given) ordinals.remember(property, some);
  };

  async function count(tx: Transaction, property: PropertyRow, batches: readonly EventsRecorded[]): Promise<Ordinals> {
    const {
      property_id: id,
      generation,
      counted_up_to: countedUpTo,
      building,
      building_up_to: buildingUpTo,
    } = property;
    const deltas = await deltasOf(eventsOf(receivedAfter(countedUpTo, batches)));
    await addNames(deltas, countedUpTo, batches);
    const ids = await learnMetrics(tx, relay, id, deltas, "new");
    const given = await addCells(tx, ordinals, id, generation, cellsOf(deltas, ids));
    if (building !== null) {
      const later = await deltasOf(eventsOf(receivedAfter(buildingUpTo, batches)));
      const known = ids.size > 0 ? ids : await learnMetrics(tx, relay, id, later, "anew");
      await addCells(tx, ordinals, id, building, cellsOf(later, known));
    }
    return given;
  }
}

/** Skips batches that a rebuild counts from stored events. All events of a batch have one receipt time. */
function receivedAfter(instant: Micros | null, batches: readonly EventsRecorded[]): readonly EventsRecorded[] {
  if (instant === null) return batches;
  return batches.filter(({ events: [event] }) => event?.receivedAt && fromTimestamp(event.receivedAt) > instant);
}

/** Original names come only over the bus, so they are also read from batches that a rebuild counts. */
async function addNames(
  deltas: Map<string, MetricDelta>,
  countedUpTo: Micros | null,
  batches: readonly EventsRecorded[],
): Promise<void> {
  const counted = new Set(receivedAfter(countedUpTo, batches));
  for (const [name, delta] of await deltasOf(eventsOf(batches.filter((batch) => !counted.has(batch))))) {
    if (delta.original) addDelta(deltas, name, { ...delta, count: 0, cells: new Map() });
  }
}

async function takeFresh(tx: Transaction, batches: readonly EventsRecorded[], now: Micros): Promise<EventsRecorded[]> {
  const ids = batches.map(({ propertyId, batchId }) => ({ property: propertyUuid(propertyId), id: toUuid(batchId) }));
  const fresh = await recordOnce(tx, ids, now);
  // Deletes each id, so that a batch that is twice in the list counts once.
  return batches.filter(({ batchId }) => fresh.delete(toUuid(batchId)));
}

function eventsOf(batches: readonly EventsRecorded[]): Event[] {
  return batches.flatMap(({ events }) => events);
}

function propertyUuid(propertyId: string): Uuid {
  return decodeId("prop", propertyId, "property_id");
}
