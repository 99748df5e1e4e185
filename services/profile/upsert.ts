/** Upserts of one profile. */
import { createHash } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import { UpsertProfileRequestSchema, type UpsertProfileRequest } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError, type FieldError } from "#shared/values/errors.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import { findIdempotencyKeyFault } from "#shared/values/event.ts";
import type { ProfileContext } from "./context.ts";
import { changeFields, checkIdentifierFaults, checkPrecondition } from "./convert.ts";
import {
  identifierKey,
  identifiersPerWriteMax,
  readIdentifiers,
  type WantedIdentifier,
} from "#shared/values/identifiers.ts";
import { decodeId, deriveUuid, type Uuid } from "#shared/values/ids.ts";
import type { Attributes } from "./domain/attributes.ts";
import { chooseHolder, chooseRemoved, findHolders, identityConflict, readUnwanted } from "./holders.ts";
import { findDone, oncePerOperation, recordOperations, type DoneOperation, type KnownOperation } from "./operations.ts";
import type { ProfileIdentifierRow, ProfileRow } from "./sql/profiles.ts";
import type { Attempt } from "./attempts.ts";
import { insert, save, type Edit, type NewProfile } from "./writing.ts";

/** An upsert whose fields have been read, as far as that needs no profile. */
export interface Upsert {
  request: UpsertProfileRequest;
  identifiers: readonly WantedIdentifier[];
  operation: Uuid | undefined;
  key: ItemKey | undefined;
}

/** The idempotency key of an upsert. */
interface ItemKey {
  /** Made of the key, which may be personal. */
  id: Uuid;
  fingerprint: Buffer;
}

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
 * @throws DaybookError with every field at fault.
 */
export async function upsert(context: ProfileContext, property: Uuid, item: Upsert): Promise<Upserted> {
  // With a key in a transaction, because the key commits with the write.
  const first = item.key && [];
  return oncePerOperation(context, property, item.request, (attempt) => upsertOnce(attempt, item), first);
}

/**
 * Reads an upsert: identifiers in normal form, ids, the key.
 * @param property is used instead of the property id of the request.
 * @throws DaybookError with every field at fault.
 */
export function readUpsert(property: Uuid, request: UpsertProfileRequest): Upsert {
  const { operationId } = request;
  const operation = operationId === undefined ? undefined : decodeId("op", operationId, "operation_id");
  checkItemCount(request.identifiers.length, identifiersPerWriteMax, "identifiers");
  const faults: FieldError[] = [];
  const identifiers = readIdentifiers(request.identifiers, faults);
  checkIdentifierFaults(faults, request);
  return { request, identifiers, operation, key: readKey(property, request) };
}

function readKey(property: Uuid, request: UpsertProfileRequest): ItemKey | undefined {
  const { idempotencyKey: key } = request;
  if (key === undefined) return undefined;
  const fault = findIdempotencyKeyFault(key);
  if (fault) throw DaybookError.ofFields([fault]);
  return { id: deriveUuid(property, `idempotency_key ${key}`), fingerprint: fingerprintOf(request) };
}

async function upsertOnce(attempt: Attempt, { request, identifiers, key }: Upsert): Promise<Upserted> {
  const known = key && (await findDone<object>(attempt, [key.id])).get(key.id);
  if (known) return replayOf(key, known);
  const decision = decide(request, identifiers, await findHolders(attempt, identifiers));
  const row =
    "edit" in decision ? await save(attempt, decision.row, decision.edit) : await insert(attempt, decision.made);
  if (key) await recordOperations(attempt, [doneUnderKey(key, row)]);
  return { row, created: "made" in decision, replayed: false };
}

/** The record of a key whose upsert is done. */
export function doneUnderKey({ id, fingerprint }: ItemKey, row: ProfileRow): DoneOperation {
  return { id, fingerprint, profile: row.id, note: {}, ageMaxMicros: keyAgeMaxMicros };
}

/** @throws DaybookError `idempotency_key_reused` if the key was used for another item. */
export function replayOf(key: ItemKey, known: KnownOperation<object>): Upserted {
  if (known.fingerprint === null || key.fingerprint.compare(known.fingerprint) !== 0) {
    const message = "`idempotency_key` was used for another profile. Send a new key with a new profile.";
    throw new DaybookError("idempotency_key_reused", message, { param: "idempotency_key" });
  }
  return { row: known.row, created: false, replayed: true };
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
