import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListImportedProfilesResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { readJob } from "#shared/jobs/jobs.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import type { ProfileContext } from "../context.ts";
import { importJobs } from "../imports.ts";
import { toProfile } from "../mapping.ts";
import { listImportedProfiles as list } from "../sql/imports.ts";
import { readProfiles, readRow } from "../sql/profiles.ts";

const limitMax = 500;

export function listImportedProfiles(
  context: ProfileContext,
): ServiceImpl<typeof ProfileService>["listImportedProfiles"] {
  return async ({ limit, afterProfileId, ...named }, { signal }) => {
    checkLimit(limit, limitMax, "profiles");
    const after = afterProfileId === undefined ? null : decodeId("prof", afterProfileId, "after_profile_id");
    const { property_id: property, id: job } = await readJob(context, importJobs, named);
    const reader = context.reads.of(property, signal);
    const { rows, hasMore } = await pageOf(limit, (most) => list(reader, [property, job, after, most]));
    const ids = rows.map(({ profile_id }) => profile_id);
    const found = new Map((await readProfiles(reader, [property, ids])).map((row) => [row.id, row]));
    const last = ids.at(-1);
    return create(ListImportedProfilesResponseSchema, {
      profiles: ids.flatMap((id) => found.get(id) ?? []).map((row) => toProfile(readRow(row))),
      hasMore,
      lastProfileId: last === undefined ? undefined : encodeId("prof", last),
    });
  };
}
