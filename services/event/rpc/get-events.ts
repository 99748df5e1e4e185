import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetEventsResponseSchema, type EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import { onwardReadOptions } from "#shared/rpc/interceptors.ts";
import type { EventContext } from "../context.ts";
import { toEvent } from "../mapping.ts";
import { readAsSurvivors } from "../attribution.ts";
import { readEvents } from "../sql/events.ts";

const idsMax = 1000;

export function getEvents({ reads, profiles }: EventContext): ServiceImpl<typeof EventService>["getEvents"] {
  return async ({ propertyId, eventIds }, handlerContext) => {
    checkItemCount(eventIds.length, idsMax, "event_ids");
    const property = decodeId("prop", propertyId, "property_id");
    const ids = [...new Set(eventIds.map((id) => decodeId("evt", id, "event_ids")))];
    const events = (await readEvents(reads.of(property, handlerContext.signal), [property, ids])).map(toEvent);
    await readAsSurvivors(profiles, propertyId, events, onwardReadOptions(handlerContext));
    return create(GetEventsResponseSchema, { events });
  };
}
