import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetLastEventsResponseSchema, type EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
import { onwardReadOptions } from "#shared/rpc/interceptors.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { EventContext } from "../context.ts";
import { findLastEvents } from "../sql/profile-events.ts";

const profilesMax = 500;

export function getLastEvents({ reads, profiles }: EventContext): ServiceImpl<typeof EventService>["getLastEvents"] {
  return async ({ propertyId, profileIds }, handlerContext) => {
    checkItemCount(profileIds.length, profilesMax, "profile_ids");
    const property = decodeId("prop", propertyId, "property_id");
    const asked = new Map(profileIds.map((id) => [encodeId("prof", decodeId("prof", id, "profile_ids")), id]));
    const survivorIds = [...asked.keys()];
    const options = onwardReadOptions(handlerContext);
    const { merged } = await profiles.getMergedProfiles({ propertyId, survivorIds }, options);
    // A merged profile has the events of its survivor.
    const survivorOf = new Map(merged.map(({ profileId, survivorId }) => [profileId, survivorId]));
    const sourcesOf = Map.groupBy(merged, ({ survivorId }) => survivorId);
    const ids = survivorIds.flatMap((id) => {
      const survivor = survivorOf.get(id) ?? id;
      const sources = sourcesOf.get(survivor)?.map(({ profileId }) => profileId) ?? [];
      return [...new Set([survivor, ...sources])].map((each) => ({
        profile_id: decodeId("prof", id, "profile_ids"),
        id: decodeId("prof", each, "profile_ids"),
      }));
    });
    const rows = await findLastEvents(reads.of(property, handlerContext.signal), [property, ids]);
    return create(GetLastEventsResponseSchema, {
      lastEvents: rows.map(({ profile_id: id, occurred_at: occurredAt }) => ({
        profileId: asked.get(encodeId("prof", id)) ?? encodeId("prof", id),
        occurredAt: toTimestamp(occurredAt),
      })),
    });
  };
}
