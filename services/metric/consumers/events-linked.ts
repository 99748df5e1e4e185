import { fromBinary } from "@bufbuild/protobuf";
import { EventsLinkedSchema, type EventsLinked } from "#proto/daybook/event/v1/event_pb.ts";
import type { BusHandler } from "#shared/bus/bus.ts";
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import { withTransaction, type Transaction } from "#shared/database/postgres.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import type { MetricContext } from "../context.ts";
import { addCells } from "../counting.ts";
import { cellOf, type RollupCell } from "../domain/metric-delta.ts";
import { newMetric } from "../domain/system-metrics.ts";
import { findProperties } from "../properties.ts";
import { tellOfNew } from "../telling.ts";
import { lockMetrics, registerMetrics } from "../sql/metrics.ts";

/** Adds profiles to roll-ups of events that were anonymous when counted. Idempotent. */
export function eventsLinked({ database, ordinals, relay }: MetricContext): BusHandler {
  return async (payloads) => {
    for (const { payload } of payloads) {
      const message = fromBinary(EventsLinkedSchema, payload);
      const property = decodeId("prop", message.propertyId, "property_id");
      const given = await withTransaction(database, (tx) => addProfile(tx, property, message));
      ordinals.remember(property, given);
    }
  };

  async function addProfile(tx: Transaction, property: Uuid, message: EventsLinked) {
    const byName = new Map<string, Map<string, RollupCell>>();
    for (const { type, occurredAt, source, currency = "" } of message.events) {
      if (!occurredAt) throw new Error("an event lacks a time");
      const cells = byName.get(type) ?? new Map<string, RollupCell>();
      byName.set(type, cells);
      cellOf(cells, fromTimestamp(occurredAt), source, currency).profileIds.add(message.profileId);
    }
    // If the events are not counted yet, their metric is registered here and counted later.
    const [row] = await findProperties(tx, [property]);
    if (!row) throw new Error("the property has no row");
    const names = [...byName.keys()];
    await tellOfNew(tx, relay, property, await registerMetrics(tx, [property, names.map(newMetric)]));
    const metrics = (await lockMetrics(tx, [property, names])).map(({ id, name }) => ({
      metricId: id,
      cells: [...(byName.get(name)?.values() ?? [])],
    }));
    const given = await addCells(tx, ordinals, property, row.generation, metrics);
    if (row.building !== null) await addCells(tx, ordinals, property, row.building, metrics);
    return given;
  }
}
