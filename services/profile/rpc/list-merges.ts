import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListMergesResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId, encodeId, nilUuid, toUuid } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import type { ProfileContext } from "../context.ts";
import { listMerges as list } from "../sql/merges.ts";

const limitMax = 10_000;

export function listMerges({ reads }: ProfileContext): ServiceImpl<typeof ProfileService>["listMerges"] {
  return async ({ propertyId, afterMergeId, limit }, { signal }) => {
    checkLimit(limit, limitMax, "merges");
    const property = decodeId("prop", propertyId, "property_id");
    const after = afterMergeId === undefined ? nilUuid : toUuid(afterMergeId);
    const reader = reads.of(property, signal);
    const { rows, hasMore } = await pageOf(limit, (most) => list(reader, [property, after, most]));
    const merges = rows.map((row) => ({
      mergeId: row.id,
      sourceId: encodeId("prof", row.source_id),
      survivorId: encodeId("prof", row.survivor_id),
    }));
    return create(ListMergesResponseSchema, { merges, hasMore });
  };
}
