import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetProfilesResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId } from "#shared/ids.ts";
import { checkItemCount } from "#shared/limits.ts";
import type { ServiceContext } from "#shared/service.ts";
import { toProfile } from "../mapping.ts";
import { readProfiles } from "../sql/profiles.ts";

const idsMax = 1000;

export function getProfiles(context: ServiceContext): ServiceImpl<typeof ProfileService>["getProfiles"] {
  return async ({ propertyId, profileIds }) => {
    checkItemCount(profileIds.length, idsMax, "profile_ids");
    const property = decodeId("prop", propertyId, "property_id");
    const ids = profileIds.map((id) => decodeId("prof", id, "profile_ids"));
    const rows = await readProfiles(context.database, [property, ids]);
    return create(GetProfilesResponseSchema, { profiles: rows.map(toProfile) });
  };
}
