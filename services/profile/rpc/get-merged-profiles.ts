import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetMergedProfilesResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import type { ProfileContext } from "../context.ts";
import { findSources, findSurvivors } from "../sql/merges.ts";

const idsMax = 1000;

export function getMergedProfiles({
  database,
}: ProfileContext): ServiceImpl<typeof ProfileService>["getMergedProfiles"] {
  return async ({ propertyId, sourceIds, survivorIds }) => {
    checkItemCount(sourceIds.length + survivorIds.length, idsMax, "source_ids and survivor_ids");
    const property = decodeId("prop", propertyId, "property_id");
    const sources = sourceIds.map((id) => decodeId("prof", id, "source_ids"));
    const survivors = survivorIds.map((id) => decodeId("prof", id, "survivor_ids"));
    const rows = await Promise.all([
      sources.length > 0 ? findSurvivors(database, [property, sources]) : [],
      survivors.length > 0 ? findSources(database, [property, survivors]) : [],
    ]);
    return create(GetMergedProfilesResponseSchema, {
      merged: rows.flat().map((row) => ({
        profileId: encodeId("prof", row.id),
        survivorId: encodeId("prof", row.merged_into),
      })),
    });
  };
}
