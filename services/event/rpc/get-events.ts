import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetEventsResponseSchema, type EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { decodeId } from "#shared/ids.ts";
import { checkItemCount } from "#shared/limits.ts";
import type { ServiceContext } from "#shared/service.ts";
import { toEvent } from "../mapping.ts";
import { readEvents } from "../sql/events.ts";

const idsMax = 1000;

export function getEvents(context: ServiceContext): ServiceImpl<typeof EventService>["getEvents"] {
  return async ({ propertyId, eventIds }) => {
    checkItemCount(eventIds.length, idsMax, "event_ids");
    const property = decodeId("prop", propertyId, "property_id");
    const ids = eventIds.map((id) => decodeId("evt", id, "event_ids"));
    const rows = await readEvents(context.database, [property, ids]);
    return create(GetEventsResponseSchema, { events: rows.map(toEvent) });
  };
}
