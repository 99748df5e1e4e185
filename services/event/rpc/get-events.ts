import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetEventsResponseSchema, type EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { decodeId } from "#shared/ids.ts";
import { checkItemCount } from "#shared/limits.ts";
import { onwardOptions } from "#shared/interceptors.ts";
import type { EventContext } from "../context.ts";
import { toEvent } from "../mapping.ts";
import { readAsSurvivors } from "../profiles.ts";
import { readEvents } from "../sql/events.ts";

const idsMax = 1000;

export function getEvents({ database, profiles }: EventContext): ServiceImpl<typeof EventService>["getEvents"] {
  return async ({ propertyId, eventIds }, handlerContext) => {
    checkItemCount(eventIds.length, idsMax, "event_ids");
    const property = decodeId("prop", propertyId, "property_id");
    const ids = [...new Set(eventIds.map((id) => decodeId("evt", id, "event_ids")))];
    const events = (await readEvents(database, [property, ids])).map(toEvent);
    await readAsSurvivors(profiles, propertyId, events, onwardOptions(handlerContext));
    return create(GetEventsResponseSchema, { events });
  };
}
