import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListImportedProfilesResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { readJob } from "#shared/jobs/jobs.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
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
    if (limit < 1 || limit > limitMax) {
      throw new DaybookError("parameter_invalid", `A page has 1 to ${limitMax} profiles.`, { param: "limit" });
    }
    const after = afterProfileId === undefined ? null : decodeId("prof", afterProfileId, "after_profile_id");
    const { property_id: property, id: job } = await readJob(context, importJobs, named);
    const rows = await list(context.reads.of(property, signal), [property, job, after, limit + 1]);
    const ids = rows.slice(0, limit).map(({ profile_id }) => profile_id);
    const found = new Map(
      (await readProfiles(context.reads.of(property, signal), [property, ids])).map((row) => [row.id, row]),
    );
    const last = ids.at(-1);
    return create(ListImportedProfilesResponseSchema, {
      profiles: ids.flatMap((id) => found.get(id) ?? []).map((row) => toProfile(readRow(row))),
      hasMore: rows.length > limit,
      lastProfileId: last === undefined ? undefined : encodeId("prof", last),
    });
  };
}
