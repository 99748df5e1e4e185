/** Whose identifiers are: the same person's, nobody's, or those of several. */
import { DaybookError, fieldErrorsMax, type FieldError } from "#shared/values/errors.ts";
import { decodeId, encodeId, type Uuid } from "#shared/values/ids.ts";
import type { UpdateProfileRequest, UpsertProfileRequest } from "#proto/daybook/profile/v1/profile_pb.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import {
  identifierKey,
  identifiersPerWriteMax,
  readIdentifiers,
  type NormalIdentifier,
} from "#shared/values/identifiers.ts";
import { readProfilesByIdentifiers, readRow, type ProfileIdentifierRow, type ProfileRow } from "./sql/profiles.ts";
import type { Attempt } from "./attempts.ts";

/** The profiles that have any of some identifiers. */
export async function findHolders(
  { database, property }: Attempt,
  identifiers: readonly NormalIdentifier[],
): Promise<ProfileRow[]> {
  const rows = await readProfilesByIdentifiers(database, [property, identifiers]);
  return rows.map(readRow);
}

/** Of the profiles that have any of some identifiers, the one that has the first of them, and the keys of those that the others have. */
export function chooseHolder(
  wanted: readonly NormalIdentifier[],
  holders: readonly ProfileRow[],
): { holder: ProfileRow | undefined; others: ReadonlySet<string> } {
  const holderOf = new Map(
    holders.flatMap((row) => row.identifiers.map((identifier) => [identifierKey(identifier), row])),
  );
  const keys = wanted.map(identifierKey).filter((key) => holderOf.has(key));
  const holder = keys[0] === undefined ? undefined : holderOf.get(keys[0]);
  return { holder, others: new Set(keys.filter((key) => holderOf.get(key) !== holder)) };
}

/**
 * The error for identifiers that profiles have which are not the one to be written. It names the holder of each; its own message names all holders, as an
 * item of a batch shows nothing else.
 * @param advice what to do about it, as a sentence.
 * @param paramOf where an identifier stands.
 */
export function identityConflict(
  advice: string,
  wanted: readonly NormalIdentifier[],
  holders: readonly ProfileRow[],
  paramOf: (index: number) => string = (index) => `identifiers.${index}`,
): DaybookError {
  const holderOf = new Map(
    holders.flatMap(({ id, identifiers }) => identifiers.map((identifier) => [identifierKey(identifier), id])),
  );
  const held = wanted.flatMap((identifier, index) => {
    const holder = holderOf.get(identifierKey(identifier));
    return holder === undefined ? [] : [{ holder: encodeId("prof", holder), param: paramOf(index) }];
  });
  const [first, ...others] = [...new Set(held.map(({ holder }) => holder))].slice(0, fieldErrorsMax);
  const rest = others.length > 0 ? `, and others of this request to ${others.join(", ")}` : "";
  const errors = held.map(({ holder, param }, index): FieldError => ({
    code: "identity_conflict",
    message: `This identifier belongs to ${holder}${index === 0 ? `${rest}. ${advice}` : "."}`,
    param,
  }));
  const [top] = errors;
  if (!first || !top) throw new RangeError("no identifier is held by another profile");
  return new DaybookError(top.code, top.message, { param: top.param, errors });
}

/** Which identifiers a write says, by their values, that the profile is to have no more, as keys. @param faults collects those of the list. */
export function readUnwanted(
  { removeIdentifiers }: Pick<UpsertProfileRequest | UpdateProfileRequest, "removeIdentifiers">,
  faults: FieldError[],
): ReadonlySet<string> {
  const root = "remove_identifiers";
  if (removeIdentifiers.length > 0) checkItemCount(removeIdentifiers.length, identifiersPerWriteMax, root);
  return new Set(readIdentifiers(removeIdentifiers, faults, root).map(identifierKey));
}

/**
 * The identifiers that a profile is to lose, by id: its own that are unwanted, but for those that it is to have.
 * @param gains whether it is given others.
 * @throws DaybookError `last_identifier` when it would have none.
 */
export function chooseRemoved(
  { identifiers }: ProfileRow,
  wanted: readonly NormalIdentifier[],
  gains: boolean,
  isUnwanted: (identifier: ProfileIdentifierRow) => boolean,
): Uuid[] {
  const kept = new Set(wanted.map(identifierKey));
  const removed = identifiers.filter((own) => isUnwanted(own) && !kept.has(identifierKey(own)));
  if (removed.length > 0 && removed.length === identifiers.length && !gains) {
    const message = "These are all identifiers of the profile; without one nobody would find it.";
    throw new DaybookError("last_identifier", message, { param: "remove_identifiers" });
  }
  return removed.map(({ id }) => id);
}

/**
 * An identifier of a profile by its id.
 * @throws DaybookError `invalid_id` or `resource_not_found` with param `identifier_id`.
 */
export function ownIdentifier(row: ProfileRow, identifierId: string): ProfileIdentifierRow {
  const id = decodeId("idnt", identifierId, "identifier_id");
  const identifier = row.identifiers.find((own) => own.id === id);
  if (identifier) return identifier;
  throw new DaybookError("resource_not_found", "The profile has no such identifier.", { param: "identifier_id" });
}
