import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { CountProfileEventsResponseSchema, type EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { onwardReadOptions } from "#shared/rpc/interceptors.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
import { findIdsOf } from "../attribution.ts";
import type { EventContext } from "../context.ts";
import { countOfProfiles } from "../sql/counts.ts";

const countMax = 100_000;

export function countProfileEvents({
  reads,
  profiles,
}: EventContext): ServiceImpl<typeof EventService>["countProfileEvents"] {
  return async ({ propertyId, profileId }, handlerContext) => {
    const property = decodeId("prop", propertyId, "property_id");
    const wanted = encodeId("prof", decodeId("prof", profileId, "profile_id"));
    const ids = await findIdsOf(profiles, propertyId, wanted, onwardReadOptions(handlerContext));
    const [row] = await countOfProfiles(reads.of(property, handlerContext.signal), [
      property,
      ids.map((id) => decodeId("prof", id, "profile_id")),
      countMax + 1,
    ]);
    if (!row) throw new Error("a count has a row");
    return create(CountProfileEventsResponseSchema, {
      count: BigInt(Math.min(row.count, countMax)),
      hasMore: row.count > countMax,
    });
  };
}
