/** Updates of a profile by id: attributes, location and identifiers in one write. */
import type { UpdateProfileRequest } from "#proto/daybook/profile/v1/profile_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import type { ProfileContext } from "./context.ts";
import { changeFields, checkIdentifierFaults } from "./convert.ts";
import {
  identifierKey,
  identifiersPerWriteMax,
  readIdentifiers,
  type WantedIdentifier,
} from "#shared/values/identifiers.ts";
import type { FieldError } from "#shared/values/errors.ts";
import { chooseRemoved, findHolders, identityConflict, readUnwanted } from "./holders.ts";
import type { ProfileIdentifierRow, ProfileRow } from "./sql/profiles.ts";
import type { Attempt } from "./attempts.ts";
import { writeToProfile, type Edit } from "./writing.ts";

/**
 * @returns as writeToProfile does.
 * @throws DaybookError with every field at fault, or as writeToProfile does.
 */
export async function update(
  context: ProfileContext,
  request: UpdateProfileRequest,
): ReturnType<typeof writeToProfile> {
  const changes = readChanges(request);
  return writeToProfile(context, request, async (current, attempt) => ({
    ...(await changeIdentifiers(attempt, current, changes)),
    source: request.source,
    ...changeFields(current, request),
  }));
}

function readChanges(request: UpdateProfileRequest): Changes {
  const { identifiers, removeIdentifierIds } = request;
  if (identifiers.length > 0) checkItemCount(identifiers.length, identifiersPerWriteMax, "identifiers");
  if (removeIdentifierIds.length > 0) {
    checkItemCount(removeIdentifierIds.length, identifiersPerWriteMax, "remove_identifier_ids");
  }
  const faults: FieldError[] = [];
  const changes = {
    wanted: readIdentifiers(identifiers, faults),
    unwantedIds: new Set(removeIdentifierIds.map((id) => decodeId("idnt", id, "remove_identifier_ids"))),
    unwanted: readUnwanted(request, faults),
  };
  checkIdentifierFaults(faults, request);
  return changes;
}

/** Changes of identifiers in a request. */
interface Changes {
  wanted: WantedIdentifier[];
  unwantedIds: ReadonlySet<string>;
  /** Keys. */
  unwanted: ReadonlySet<string>;
}

async function changeIdentifiers(
  attempt: Attempt,
  current: ProfileRow,
  { wanted, unwantedIds, unwanted }: Changes,
): Promise<Pick<Edit, "added" | "promoted" | "removed">> {
  const known = new Map(current.identifiers.map((identifier) => [identifierKey(identifier), identifier.id]));
  const added = wanted.filter((identifier) => !known.has(identifierKey(identifier)));
  if (added.length > 0) {
    const paramOf = (index: number): string => `identifiers.${wanted.indexOf(added[index] as WantedIdentifier)}`;
    const holders = await findHolders(attempt, added, paramOf);
    if (holders.length > 0) {
      throw identityConflict("Merge the profiles, or take the identifier from the other first.", wanted, holders);
    }
  }
  const isUnwanted = (own: ProfileIdentifierRow): boolean =>
    unwantedIds.has(own.id) || unwanted.has(identifierKey(own));
  const removed = chooseRemoved(current, wanted, added.length > 0, isUnwanted);
  const promoted = wanted.flatMap((identifier) =>
    identifier.isPrimary ? (known.get(identifierKey(identifier)) ?? []) : [],
  );
  return { added, promoted, removed };
}
