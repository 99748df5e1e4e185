/** Upserts of one profile. */
import { createHash } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import { UpsertProfileRequestSchema, type UpsertProfileRequest } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError, type FieldError } from "#shared/values/errors.ts";
import { digestOfKey } from "#shared/values/key-digest.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import { findIdempotencyKeyFault } from "#shared/values/event.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { ProfileContext } from "./context.ts";
import { changeFields, checkIdentifierFaults, checkPrecondition } from "./convert.ts";
import {
  identifierKey,
  identifiersPerWriteMax,
  readIdentifiers,
  type WantedIdentifier,
} from "#shared/values/identifiers.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Attributes } from "./domain/attributes.ts";
import { chooseHolder, chooseRemoved, findHolders, identityConflict, readUnwanted } from "./holders.ts";
import { oncePerOperation } from "./operations.ts";
import { claimItemKey, findItemKey } from "./sql/item-keys.ts";
import { readProfiles, readRow, type ProfileIdentifierRow, type ProfileRow } from "./sql/profiles.ts";
import { OptimisticConflict, type Attempt } from "./attempts.ts";
import { insert, save, type Edit, type NewProfile } from "./writing.ts";

/** The result of an upsert. */
export interface Upserted {
  row: ProfileRow;
  created: boolean;
  /** An earlier upsert with the same idempotency key had done it. */
  replayed: boolean;
}

const keyAgeMaxMicros = 24 * 60 * 60 * 1_000_000;

/**
 * Creates the profile that the identifiers belong to, or updates it.
 * @param property is used instead of the property id of the request.
 * @throws DaybookError with every field at fault.
 */
export async function upsert(
  context: ProfileContext,
  property: Uuid,
  request: UpsertProfileRequest,
): Promise<Upserted> {
  const identifiers = readWanted(request);
  const { idempotencyKey: key } = request;
  if (key === undefined) {
    return oncePerOperation(context, property, request, (attempt) => upsertOnce(attempt, request, identifiers));
  }
  const keyFault = findIdempotencyKeyFault(key);
  if (keyFault) throw DaybookError.ofFields([keyFault]);
  // In a transaction, because the key commits with the write.
  return oncePerOperation(
    context,
    property,
    request,
    (attempt) => upsertWithKey(attempt, request, identifiers, key),
    [],
  );
}

/** The identifiers of an upsert, in normal form. @throws DaybookError with every field at fault. */
export function readWanted(request: UpsertProfileRequest): WantedIdentifier[] {
  checkItemCount(request.identifiers.length, identifiersPerWriteMax, "identifiers");
  const faults: FieldError[] = [];
  const identifiers = readIdentifiers(request.identifiers, faults);
  checkIdentifierFaults(faults, request);
  return identifiers;
}

async function upsertWithKey(
  attempt: Attempt,
  request: UpsertProfileRequest,
  identifiers: readonly WantedIdentifier[],
  key: string,
): Promise<Upserted> {
  const { database, property, now } = attempt;
  const fingerprint = fingerprintOf(request);
  const digest = digestOfKey(key);
  const [held] = await findItemKey(database, [property, digest, formatMicros(now)]);
  if (held) {
    if (fingerprint.compare(held.fingerprint) !== 0) {
      const message = "`idempotency_key` was used for another profile. Send a new key with a new profile.";
      throw new DaybookError("idempotency_key_reused", message, { param: "idempotency_key" });
    }
    const [row] = await readProfiles(database, [property, [held.profile_id]]);
    if (!row) throw new Error("a profile that was upserted is gone");
    return { row: readRow(row), created: false, replayed: true };
  }
  const upserted = await upsertOnce(attempt, request, identifiers);
  const expiresAt = formatMicros(now + keyAgeMaxMicros);
  const { id } = upserted.row;
  const [claimed] = await claimItemKey(database, [property, digest, fingerprint, id, expiresAt, formatMicros(now)]);
  // Another upsert claimed the key first. The next attempt finds its profile.
  if (!claimed) throw new OptimisticConflict();
  return upserted;
}

async function upsertOnce(
  attempt: Attempt,
  request: UpsertProfileRequest,
  identifiers: readonly WantedIdentifier[],
): Promise<Upserted> {
  const decision = decide(request, identifiers, await findHolders(attempt, identifiers));
  const row =
    "edit" in decision ? await save(attempt, decision.row, decision.edit) : await insert(attempt, decision.made);
  return { row, created: "made" in decision, replayed: false };
}

/** What an upsert does: create a profile, or edit one. */
export type Decision = { made: NewProfile } | { row: ProfileRow; edit: Edit };

/**
 * Decides what an upsert does.
 * @param holders the profiles that have any of its identifiers.
 * @param under the attributes of the only holder, for several changes in a row. They are not reverted when this throws.
 * @throws DaybookError `identity_conflict`, `precondition_failed`, or for faults of fields.
 */
export function decide(
  request: UpsertProfileRequest,
  identifiers: readonly WantedIdentifier[],
  holders: readonly ProfileRow[],
  under?: Attributes,
): Decision {
  if (holders.length > 1 && !request.preferFirst) {
    throw identityConflict("Merge the profiles first.", identifiers, holders);
  }
  const { holder: row, others } = chooseHolder(identifiers, holders);
  checkPrecondition(request.precondition, row?.version);
  const faults: FieldError[] = [];
  const unwanted = readUnwanted(request, faults);
  const fields = { attributes: under ?? row?.attributes ?? "{}", location: row?.location ?? null };
  const { attributes, location } = changeFields(fields, request, faults);
  const { source } = request;
  if (!row) return { made: { identifiers, attributes, location, source } };
  const known = new Map(row.identifiers.map((identifier) => [identifierKey(identifier), identifier.id]));
  const added = identifiers.filter((identifier) => {
    const key = identifierKey(identifier);
    return !known.has(key) && !others.has(key);
  });
  const promoted = identifiers.flatMap((identifier) => {
    const id = identifier.isPrimary ? known.get(identifierKey(identifier)) : undefined;
    return id === undefined ? [] : [id];
  });
  const isUnwanted = (own: ProfileIdentifierRow): boolean => unwanted.has(identifierKey(own));
  const removed = chooseRemoved(row, identifiers, added.length > 0, isUnwanted);
  return { row, edit: { attributes, location, added, source, promoted, removed } };
}

/** Two items are the same when the caller sent the same values in all fields. */
function fingerprintOf(request: UpsertProfileRequest): Buffer {
  const {
    precondition: _condition,
    idempotencyKey: _key,
    propertyId: _property,
    operationId: _operation,
    ...item
  } = request;
  return createHash("sha256")
    .update(toBinary(UpsertProfileRequestSchema, { ...item, propertyId: "" }))
    .digest();
}
