/** Rows of the schema to messages. */
import { create } from "@bufbuild/protobuf";
import { EventSchema, type Event } from "#proto/daybook/event/v1/event_pb.ts";
import { encodeId } from "#shared/values/ids.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { EventRow } from "./sql/events.ts";

export function toEvent(row: EventRow): Event {
  return create(EventSchema, {
    id: encodeId("evt", row.id),
    type: row.type,
    ...(row.profile_id === null ? {} : { profileId: encodeId("prof", row.profile_id) }),
    propertiesJson: row.properties,
    ...(row.value === null ? {} : { value: row.value }),
    ...(row.currency === null ? {} : { currency: row.currency }),
    occurredAt: toTimestamp(row.occurred_at),
    receivedAt: toTimestamp(row.received_at),
    ...(row.dedupe_id === null ? {} : { dedupeId: row.dedupe_id }),
    source: row.source,
    backfill: row.backfill,
  });
}
