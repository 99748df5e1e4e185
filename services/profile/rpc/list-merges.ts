import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListMergesResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId, encodeId, nilUuid, toUuid } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import { toTimestamp } from "#shared/values/time.ts";
import type { ProfileContext } from "../context.ts";
import type { Moved } from "../domain/moved.ts";
import { toMoved } from "../mapping.ts";
import { listMerges as list, listMergesOf, type MergeRow } from "../sql/merges.ts";

const limitMax = 10_000;

export function listMerges({ reads }: ProfileContext): ServiceImpl<typeof ProfileService>["listMerges"] {
  return async ({ propertyId, afterMergeId, limit, profileId }, { signal }) => {
    checkLimit(limit, limitMax, "merges");
    const property = decodeId("prop", propertyId, "property_id");
    const profile = profileId === undefined ? undefined : decodeId("prof", profileId, "profile_id");
    const after = afterMergeId === undefined ? nilUuid : toUuid(afterMergeId);
    const reader = reads.of(property, signal);
    const { rows, hasMore } = await pageOf(limit, (most): Promise<(MergeRow & { moved?: Partial<Moved> })[]> =>
      profile === undefined
        ? list(reader, [property, after, most])
        : listMergesOf(reader, [property, profile, after, most]),
    );
    const merges = rows.map((row) => ({
      mergeId: row.id,
      sourceId: encodeId("prof", row.source_id),
      survivorId: encodeId("prof", row.survivor_id),
      mergedAt: toTimestamp(row.merged_at),
      mergedBy: row.merged_by,
      ...(row.moved ? { moved: toMoved(row.moved) } : {}),
    }));
    return create(ListMergesResponseSchema, { merges, hasMore });
  };
}
