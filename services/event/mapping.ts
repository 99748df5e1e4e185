/** Converts rows to messages. */
import { create } from "@bufbuild/protobuf";
import { EventSchema, type Event } from "#proto/daybook/event/v1/event_pb.ts";
import { encodeId } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { EventRow } from "./sql/events.ts";

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
