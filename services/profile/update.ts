/** Updates of a profile by its id: attributes, location and identifiers, in one write. */
import type { UpdateProfileRequest } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import { decodeId } from "#shared/ids.ts";
import { checkItemCount } from "#shared/limits.ts";
import type { ProfileContext } from "./context.ts";
import { changeAttributes, toLocationChanges } from "./convert.ts";
import { identifierKey, identifiersPerWriteMax, readIdentifiers, type WantedIdentifier } from "./domain/identifiers.ts";
import { changeLocation } from "./domain/location.ts";
import { listingFaults } from "./faults.ts";
import { findHolders, identifiersParam, identityConflict } from "./identity.ts";
import type { ProfileRow } from "./sql/profiles.ts";
import type { Turn } from "./turns.ts";
import { writeToProfile, type Edit } from "./writing.ts";

/**
 * Updates a profile.
 * @returns the profile after it, and what to answer of the id that was named.
 * @throws DaybookError with every field at fault, or as writeToProfile does.
 */
export function update(context: ProfileContext, request: UpdateProfileRequest): ReturnType<typeof writeToProfile> {
  return listingFaults(request, () => {
    const { identifiers, removed } = readChanges(request);
    return writeToProfile(context, request, async (current, turn) => ({
      ...(await changeIdentifiers(turn, current, identifiers, removed)),
      source: request.source,
      attributes: changeAttributes(current.attributes, request),
      location: changeLocation(current.location, toLocationChanges(request.location)),
    }));
  });
}

function readChanges({ identifiers, removeIdentifierIds }: UpdateProfileRequest) {
  if (identifiers.length > 0) checkItemCount(identifiers.length, identifiersPerWriteMax, "identifiers");
  if (removeIdentifierIds.length > 0) {
    checkItemCount(removeIdentifierIds.length, identifiersPerWriteMax, "remove_identifier_ids");
  }
  return {
    identifiers: readIdentifiers(identifiers),
    removed: new Set(removeIdentifierIds.map((id) => decodeId("idnt", id, "remove_identifier_ids"))),
  };
}

async function changeIdentifiers(
  turn: Turn,
  current: ProfileRow,
  wanted: readonly WantedIdentifier[],
  unwanted: ReadonlySet<string>,
): Promise<Pick<Edit, "added" | "promoted" | "removed">> {
  const known = new Map(current.identifiers.map((identifier) => [identifierKey(identifier), identifier.id]));
  const added = wanted.filter((identifier) => !known.has(identifierKey(identifier)));
  if (added.length > 0) {
    const holders = await findHolders(turn, added);
    if (holders.length > 0) {
      const message = "Another profile has one of the identifiers. Merge the two, or take it from the other first.";
      throw identityConflict(message, wanted, holders, identifiersParam);
    }
  }
  // What it is to have it does not lose.
  const kept = new Map(wanted.flatMap((one) => known.get(identifierKey(one)) ?? []).map((id) => [id, true]));
  const removed = current.identifiers.flatMap(({ id }) => (unwanted.has(id) && !kept.has(id) ? [id] : []));
  if (removed.length > 0 && removed.length === current.identifiers.length && added.length === 0) {
    const message = "These are all identifiers of the profile; without one nobody would find it.";
    throw new DaybookError("last_identifier", message, { param: "remove_identifier_ids" });
  }
  const promoted = wanted.flatMap((identifier) =>
    identifier.isPrimary ? (known.get(identifierKey(identifier)) ?? []) : [],
  );
  return { added, promoted, removed };
}
