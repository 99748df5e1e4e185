import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { MergeProfilesResponseSchema, type ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, encodeId, newUuid } from "#shared/values/ids.ts";
import { callOf, type Call } from "#shared/rpc/interceptors.ts";
import type { Transaction } from "#shared/database/postgres.ts";
import { formatMicros } from "#shared/values/time.ts";
import { messageOf, tell } from "../announce.ts";
import type { ProfileContext } from "../context.ts";
import { checkPrecondition } from "../convert.ts";
import { mergeAttributes } from "../domain/attributes.ts";
import { identifiersPerProfileMax } from "#shared/values/identifiers.ts";
import { mergeLocations } from "../domain/location.ts";
import { toProfile } from "../mapping.ts";
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
      const rows = new Map((await readProfiles(tx, [property, [survivorId, sourceId]])).map((row) => [row.id, row]));
      const [survivor, source] = [rows.get(survivorId), rows.get(sourceId)];
      if (!survivor) throw notFound("profile_id");
      if (!source) throw notFound("source_profile_id");
      if (survivorId === sourceId) throw impossible("A profile cannot be merged into itself.", "source_profile_id");
      if (survivor.status !== "active") throw impossible(`This profile is ${survivor.status}.`, "profile_id");
      if (source.status !== "active") throw impossible(`The source is ${source.status}.`, "source_profile_id");
      checkPrecondition(request.precondition, survivor.version);
      return { row: await mergeInto(tx, attempt, readRow(survivor), readRow(source), callOf(handlerContext)) };
    };
    // Both are locked from the first attempt on.
    const { row } = await oncePerOperation(context, property, request, merge, [survivorId, sourceId]);
    return create(MergeProfilesResponseSchema, { profile: toProfile(row) });
  };
}

async function mergeInto(
  tx: Transaction,
  attempt: Attempt,
  survivor: ProfileRow,
  source: ProfileRow,
  call: Call,
): Promise<ProfileRow> {
  const { property } = attempt;
  const identifierCount = survivor.identifiers.length + source.identifiers.length;
  if (identifierCount > identifiersPerProfileMax) {
    const message =
      `The merge would give the profile ${identifierCount} identifiers, ` +
      `and a profile has at most ${identifiersPerProfileMax}. Remove some first.`;
    throw new DaybookError("too_many_items", message, { param: "source_profile_id" });
  }
  const now = formatMicros(attempt.now);
  const { attributes, moved: movedAttributes } = mergeAttributes(survivor.attributes, source.attributes);
  const { location, moved: movedLocation } = mergeLocations(survivor.location, source.location);
  const movedTags = source.tags.filter((tag) => !survivor.tags.includes(tag));
  const primaryTypes = survivor.identifiers.filter(({ is_primary }) => is_primary).map(({ type }) => type);

  await moveIdentifiers(tx, [property, source.id, survivor.id, primaryTypes, now]);
  await mergeAway(tx, [property, source.id, survivor.id, now]);
  await pointToSurvivor(tx, [property, source.id, survivor.id, now]);
  const saved = await save(attempt, survivor, {
    attributes,
    location,
    tags: [...survivor.tags, ...movedTags],
    // Above the version of every id that now leads here, so that If-Match never matches another record's version.
    versionAbove: source.version + 1,
  });
  const moved = {
    identifier_ids: source.identifiers.map(({ id }) => encodeId("idnt", id)),
    attributes: movedAttributes,
    tags: movedTags,
    location: movedLocation,
  };
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
  await tell(tx, attempt, [messageOf(property, survivor.id, attempt.now, [{ case: "merged", value }])]);
  const [row] = await readProfiles(tx, [property, [saved.id]]);
  if (!row) throw new Error("the survivor is not there after the merge");
  return readRow(row);
}

function notFound(param: string): DaybookError {
  return new DaybookError("resource_not_found", "There is no such profile.", { param });
}

function impossible(message: string, param: string): DaybookError {
  return new DaybookError("invalid_state_transition", message, { param });
}
