/** Converts events to rows, and rows to messages. */
import { create } from "@bufbuild/protobuf";
import { EventSchema, type Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { encodeId, newUuid } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { ResolvedEvent } from "./domain/resolved.ts";
import type { EventRow, NewEventRow } from "./sql/events.ts";

/** @param now its received_at. */
export function toRow(item: ResolvedEvent, now: Micros): NewEventRow {
  return {
    id: item.id ?? newUuid(),
    type: item.type,
    profile_id: item.profileId,
    identifier_type: item.identifier?.type ?? null,
    identifier_value: item.identifier?.value ?? null,
    properties: item.properties,
    value: item.money?.value ?? null,
    currency: item.money?.currency ?? null,
    occurred_at: item.occurredAt,
    received_at: now,
    dedupe_id: item.dedupe?.id ?? null,
    source: item.source,
    backfill: item.backfill,
  };
}

export function toEvent(row: EventRow): Event {
  return create(EventSchema, {
    id: encodeId("evt", row.id),
    type: row.type,
    profileId: row.profile_id === null ? undefined : encodeId("prof", row.profile_id),
    propertiesJson: row.properties,
    value: row.value ?? undefined,
    currency: row.currency ?? undefined,
    occurredAt: toTimestamp(row.occurred_at),
    receivedAt: toTimestamp(row.received_at),
    dedupeId: row.dedupe_id ?? undefined,
    source: row.source,
    backfill: row.backfill,
  });
}
