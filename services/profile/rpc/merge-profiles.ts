import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { MergeProfilesResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId, encodeId, newUuid } from "#shared/values/ids.ts";
import { callOf, type Call } from "#shared/rpc/interceptors.ts";
import type { Transaction } from "#shared/database/postgres.ts";
import { formatMicros } from "#shared/values/time.ts";
import { messageOf, tell } from "../announce.ts";
import type { ProfileContext } from "../context.ts";
import { checkPrecondition } from "../convert.ts";
import { toProfile } from "../mapping.ts";
import { planMerge, type MergePlan } from "../merging.ts";
import { oncePerOperation } from "../operations.ts";
import { moveIdentifiers } from "../sql/identifiers.ts";
import { insertMerge, mergeAway, pointToSurvivor } from "../sql/merges.ts";
import { readProfiles, readRow, type ProfileRow } from "../sql/profiles.ts";
import type { Attempt } from "../attempts.ts";
import { save } from "../writing.ts";

export function mergeProfiles(context: ProfileContext): ServiceImpl<typeof ProfileService>["mergeProfiles"] {
  return async (request, handlerContext) => {
    const property = decodeId("prop", request.propertyId, "property_id");
    const survivorId = decodeId("prof", request.profileId, "profile_id");
    const sourceId = decodeId("prof", request.sourceProfileId, "source_profile_id");
    const merge = async (attempt: Attempt): Promise<{ row: ProfileRow }> => {
      const { tx } = attempt;
      if (!tx) throw new Error("a merge needs a transaction");
      const plan = await planMerge(tx, property, { survivorId, sourceId }, ({ version }) =>
        checkPrecondition(request.precondition, version),
      );
      return { row: await carryOut(tx, attempt, plan, callOf(handlerContext)) };
    };
    // Both are locked from the first attempt on.
    const { row } = await oncePerOperation(context, property, request, merge, [survivorId, sourceId]);
    return create(MergeProfilesResponseSchema, { profile: toProfile(row) });
  };
}

async function carryOut(tx: Transaction, attempt: Attempt, plan: MergePlan, call: Call): Promise<ProfileRow> {
  const { property } = attempt;
  const { survivor, source, attributes, location, tags, primaryTypes, moved } = plan;
  const now = formatMicros(attempt.now);
  await moveIdentifiers(tx, [property, source.id, survivor.id, primaryTypes, now]);
  await mergeAway(tx, [property, source.id, survivor.id, now]);
  await pointToSurvivor(tx, [property, source.id, survivor.id, now]);
  const saved = await save(attempt, survivor, {
    attributes,
    location,
    tags,
    // Above the version of every id that now leads here, so that If-Match never matches another record's version.
    versionAbove: source.version + 1,
  });
  await insertMerge(tx, [
    property,
    newUuid(),
    survivor.id,
    source.id,
    call.caller,
    call.requestId,
    now,
    JSON.stringify(moved),
  ]);
  const value = { sourceProfileId: encodeId("prof", source.id) };
  const write = { property, profile: survivor.id, version: saved.version, now: attempt.now };
  await tell(tx, attempt, [messageOf(write, [{ case: "merged", value }])]);
  const [row] = await readProfiles(tx, [property, [saved.id]]);
  if (!row) throw new Error("the survivor is not there after the merge");
  return readRow(row);
}
