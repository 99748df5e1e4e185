/** Whose identifiers are: the same person's, nobody's, or those of several. */
import { DaybookError, type FieldError } from "#shared/errors.ts";
import { decodeId, encodeId } from "#shared/ids.ts";
import { identifierKey, type NormalIdentifier } from "./domain/identifiers.ts";
import { readProfilesByIdentifiers, readRow, type ProfileIdentifierRow, type ProfileRow } from "./sql/profiles.ts";
import type { Turn } from "./turns.ts";

/** The profiles that have any of some identifiers. */
export async function findHolders(
  { database, property }: Turn,
  identifiers: readonly NormalIdentifier[],
): Promise<ProfileRow[]> {
  const rows = await readProfilesByIdentifiers(database, [
    property,
    identifiers.map(({ type }) => type),
    identifiers.map(({ value }) => value),
  ]);
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
 * The error for identifiers that profiles have which are not the one to be written. It names the holder of each.
 * @param param of all of them, and of each.
 */
export function identityConflict(
  message: string,
  wanted: readonly NormalIdentifier[],
  holders: readonly ProfileRow[],
  param: { all: string; each: (index: number) => string },
): DaybookError {
  const holderOf = new Map(
    holders.flatMap(({ id, identifiers }) => identifiers.map((identifier) => [identifierKey(identifier), id])),
  );
  const errors = wanted.flatMap((identifier, index): FieldError[] => {
    const holder = holderOf.get(identifierKey(identifier));
    if (holder === undefined) return [];
    const text = `This identifier belongs to ${encodeId("prof", holder)}.`;
    return [{ code: "identity_conflict", message: text, param: param.each(index) }];
  });
  return new DaybookError("identity_conflict", message, { param: param.all, errors });
}

/** Where identifiers stand in a write of a profile. */
export const identifiersParam = { all: "identifiers", each: (index: number): string => `identifiers.${index}` };

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
