import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { PreviewMergeResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
import type { ProfileContext } from "../context.ts";
import { toMoved, toProfile } from "../mapping.ts";
import { conflictsOf, planMerge, survivorOf } from "../merging.ts";
import { countSources } from "../sql/merges.ts";

export function previewMerge({ reads }: ProfileContext): ServiceImpl<typeof ProfileService>["previewMerge"] {
  return async ({ propertyId, profileId, sourceProfileId }, { signal }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const survivorId = decodeId("prof", profileId, "profile_id");
    const sourceId = decodeId("prof", sourceProfileId, "source_profile_id");
    const { plan, sources } = await reads.of(property, signal).inSnapshot(async (snapshot) => ({
      plan: await planMerge(snapshot, property, { survivorId, sourceId }),
      sources: await countSources(snapshot, [property, sourceId]),
    }));
    const conflicts = conflictsOf(plan);
    const demoted = plan.source.identifiers.filter(
      ({ is_primary: isPrimary, type }) => isPrimary && plan.primaryTypes.includes(type),
    );
    return create(PreviewMergeResponseSchema, {
      profile: toProfile(survivorOf(plan)),
      moved: toMoved(plan.moved),
      conflictingAttributes: conflicts.attributes,
      conflictingLocation: conflicts.location,
      demotedIdentifierIds: demoted.map(({ id }) => encodeId("idnt", id)),
      mergedIntoSource: sources[0]?.count ?? 0,
      survivorVersion: BigInt(plan.survivor.version),
    });
  };
}
