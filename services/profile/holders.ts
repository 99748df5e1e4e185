/** Holders: the profiles that have given identifiers. */
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

/** Finds the profiles that have any of the identifiers, and the keys of those that are suppressed. */
export async function findHoldersAndSuppressed(
  { database, property }: Attempt,
  identifiers: readonly NormalIdentifier[],
): Promise<{ holders: ProfileRow[]; suppressed: ReadonlySet<string> }> {
  const holders: ProfileRow[] = [];
  const suppressed = new Set<string>();
  for (const row of await readProfilesByIdentifiers(database, [property, identifiers])) {
    if (row.suppressed_type === null) {
      const { suppressed_type: _type, suppressed_value: _value, ...profile } = row;
      holders.push(readRow(profile));
    } else suppressed.add(identifierKey({ type: row.suppressed_type, value: row.suppressed_value }));
  }
  return { holders, suppressed };
}

/**
 * Finds the profiles that have any of the identifiers.
 * @param paramOf the param of an identifier, by its index.
 * @throws DaybookError `identifier_suppressed`.
 */
export async function findHolders(
  attempt: Attempt,
  identifiers: readonly NormalIdentifier[],
  paramOf?: (index: number) => string,
): Promise<ProfileRow[]> {
  const { holders, suppressed } = await findHoldersAndSuppressed(attempt, identifiers);
  const error = suppressionOf(identifiers, suppressed, paramOf);
  if (error) throw error;
  return holders;
}

/** The error for suppressed identifiers; undefined if none of the wanted ones is. */
export function suppressionOf(
  wanted: readonly NormalIdentifier[],
  suppressed: ReadonlySet<string>,
  paramOf: (index: number) => string = (index) => `identifiers.${index}`,
): DaybookError | undefined {
  const errors = wanted.flatMap((identifier, index) =>
    suppressed.has(identifierKey(identifier)) ? [suppressedFault(paramOf(index))] : [],
  );
  return errors.length > 0 ? DaybookError.ofFields(errors) : undefined;
}

/** The fault of a suppressed identifier. */
export function suppressedFault(param: string): FieldError {
  const message = "This identifier is suppressed: its person was erased, and is not to be written again.";
  return { code: "identifier_suppressed", message, param };
}

/** Chooses the holder of the first held identifier. @returns it, and the keys of the identifiers that others hold. */
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
 * The error for identifiers that other profiles hold. Each field error names one holder. The top message names all of
 * them up to the limit of field errors, because an item of a batch shows nothing else.
 * @param advice a sentence that says what to do.
 * @param paramOf the param of an identifier, by its index.
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

/** The keys of the identifiers that a write removes by value. @param faults collects the faults of the list. */
export function readUnwanted(
  { removeIdentifiers }: Pick<UpsertProfileRequest | UpdateProfileRequest, "removeIdentifiers">,
  faults: FieldError[],
): ReadonlySet<string> {
  const root = "remove_identifiers";
  if (removeIdentifiers.length > 0) checkItemCount(removeIdentifiers.length, identifiersPerWriteMax, root);
  return new Set(readIdentifiers(removeIdentifiers, faults, root).map(identifierKey));
}

/**
 * The ids of the identifiers that a profile loses: its unwanted ones, except those that are also wanted.
 * @param gains whether it gets new ones.
 * @throws DaybookError `last_identifier` when none would remain.
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

/** An identifier of a profile. @throws DaybookError `invalid_id` or `resource_not_found`, param `identifier_id`. */
export function ownIdentifier(row: ProfileRow, identifierId: string): ProfileIdentifierRow {
  const id = decodeId("idnt", identifierId, "identifier_id");
  const identifier = row.identifiers.find((own) => own.id === id);
  if (identifier) return identifier;
  throw new DaybookError("resource_not_found", "The profile has no such identifier.", { param: "identifier_id" });
}
