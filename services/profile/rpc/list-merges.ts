import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListMergesResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, encodeId, nilUuid, toUuid } from "#shared/values/ids.ts";
import type { ProfileContext } from "../context.ts";
import { listMerges as list } from "../sql/merges.ts";

const limitMax = 10_000;

export function listMerges({ reads }: ProfileContext): ServiceImpl<typeof ProfileService>["listMerges"] {
  return async ({ propertyId, afterMergeId, limit }, { signal }) => {
    if (limit < 1 || limit > limitMax) {
      throw new DaybookError("parameter_invalid", `A page has 1 to ${limitMax} merges.`, { param: "limit" });
    }
    const property = decodeId("prop", propertyId, "property_id");
    // One more than asked for tells whether more follow.
    const rows = await list(reads.of(property, signal), [
      property,
      afterMergeId === undefined ? nilUuid : toUuid(afterMergeId),
      limit + 1,
    ]);
    const merges = rows.slice(0, limit).map((row) => ({
      mergeId: row.id,
      sourceId: encodeId("prof", row.source_id),
      survivorId: encodeId("prof", row.survivor_id),
    }));
    return create(ListMergesResponseSchema, { merges, hasMore: rows.length > limit });
  };
}
