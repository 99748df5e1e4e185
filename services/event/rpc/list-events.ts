import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { EventSort, ListEventsResponseSchema, type EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
import { onwardReadOptions } from "#shared/rpc/interceptors.ts";
import { checkLimit, readPage } from "#shared/values/page.ts";
import { formatMicros, fromTimestamp, toRange } from "#shared/values/time.ts";
import type { EventContext } from "../context.ts";
import { toEvent } from "../mapping.ts";
import { findIdsOf, readAsSurvivors } from "../attribution.ts";
import { listEvents as list } from "../sql/list.ts";

const limitMax = 1000;

export function listEvents({ reads, profiles }: EventContext): ServiceImpl<typeof EventService>["listEvents"] {
  return async (request, handlerContext) => {
    const { propertyId, limit, ascending, after, source, profileId } = request;
    checkLimit(limit, limitMax, "events");
    const property = decodeId("prop", propertyId, "property_id");
    const options = onwardReadOptions(handlerContext);
    const wanted = profileId === undefined ? undefined : encodeId("prof", decodeId("prof", profileId, "profile_id"));
    const ids = wanted === undefined ? undefined : await findIdsOf(profiles, propertyId, wanted, options);
    const sort = request.sort === EventSort.RECEIVED_AT ? "received_at" : "occurred_at";
    const values = {
      property,
      profiles: ids?.map((id) => decodeId("prof", id, "profile_id")),
      // Types are stored with dots. An invalid type matches no event.
      type: request.type?.replaceAll("_", "."),
      source,
      withoutSystem: request.withoutSystem,
      occurredAt: toRange(request.occurredAt),
      receivedAt: toRange(request.receivedAt),
    };
    const begin = after?.time && {
      time: formatMicros(fromTimestamp(after.time)),
      id: decodeId("evt", after.eventId, "after"),
    };
    const reader = reads.of(property, handlerContext.signal);
    const { rows, hasMore } = await readPage(limit, begin, {
      read: (place, count) => list(reader, { sort, ascending }, { ...values, after: place, limit: count }),
      placeOf: (row) => ({ time: formatMicros(row[sort]), id: row.id }),
      sizeOf: ({ properties }) => properties.length,
    });
    const events = rows.map(toEvent);
    await readAsSurvivors(profiles, propertyId, events, options);
    const isMerged = wanted !== undefined && ids?.[0] !== wanted;
    return create(ListEventsResponseSchema, { events, hasMore, ...(isMerged ? { resolvedFrom: wanted } : {}) });
  };
}
