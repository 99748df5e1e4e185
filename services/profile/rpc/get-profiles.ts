import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetProfilesResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId, type Uuid } from "#shared/values/ids.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import type { Queryable } from "#shared/database/postgres.ts";
import type { ProfileContext } from "../context.ts";
import { toProfile } from "../mapping.ts";
import { readProfiles, readRow, type StoredProfileRow } from "../sql/profiles.ts";

const idsMax = 1000;

export function getProfiles({ reads }: ProfileContext): ServiceImpl<typeof ProfileService>["getProfiles"] {
  return async ({ propertyId, profileIds, resolveMerged }, { signal }) => {
    checkItemCount(profileIds.length, idsMax, "profile_ids");
    const property = decodeId("prop", propertyId, "property_id");
    const ids = [...new Set(profileIds.map((id) => decodeId("prof", id, "profile_ids")))];
    const reader = reads.of(property, signal);
    const rows = await readProfiles(reader, [property, ids]);
    const resolved = resolveMerged ? await resolve(reader, property, rows) : rows;
    return create(GetProfilesResponseSchema, { profiles: resolved.map((row) => toProfile(readRow(row))) });
  };

  async function resolve(reader: Queryable, property: Uuid, rows: StoredProfileRow[]): Promise<StoredProfileRow[]> {
    if (rows.every(({ merged_into }) => merged_into === null)) return rows;
    const survivors = new Set(rows.map(({ id, merged_into }) => merged_into ?? id));
    // Recursive, because a survivor may be merged between the reads.
    return resolve(reader, property, await readProfiles(reader, [property, [...survivors]]));
  }
}
