/** Upserts: one by one, and in batches. */
import { createHash } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import { UpsertProfileRequestSchema, type UpsertProfileRequest } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import { checkItemCount } from "#shared/limits.ts";
import { formatMicros } from "#shared/time.ts";
import type { ProfileContext } from "./context.ts";
import { changeAttributes, checkPrecondition, toLocationChanges } from "./convert.ts";
import { identifierKey, identifiersPerWriteMax, readIdentifiers, type WantedIdentifier } from "./domain/identifiers.ts";
import { changeLocation } from "./domain/location.ts";
import { listingFaults } from "./faults.ts";
import { findHolders, identifiersParam, identityConflict } from "./identity.ts";
import { claimItemKey, findItemKey } from "./sql/item-keys.ts";
import { readProfiles, readRow, type ProfileRow } from "./sql/profiles.ts";
import { insert, inTurns, LostRace, save, type Turn } from "./writing.ts";

/** What became of an upsert. */
export interface Upserted {
  row: ProfileRow;
  created: boolean;
  /** Nothing was done now, as it had been done with the same key. */
  replayed: boolean;
}

const keyPattern = /^[\x21-\x7e]{1,255}$/;
const keyAgeMaxMicros = 24 * 60 * 60 * 1_000_000;

/**
 * Creates the profile that the identifiers belong to, or updates it.
 * @param property UUID; the one in the request is not looked at.
 * @throws DaybookError with every field at fault.
 */
export function upsert(context: ProfileContext, property: string, request: UpsertProfileRequest): Promise<Upserted> {
  return listingFaults(request, () => upsertInTurns(context, property, request));
}

async function upsertInTurns(
  context: ProfileContext,
  property: string,
  request: UpsertProfileRequest,
): Promise<Upserted> {
  checkItemCount(request.identifiers.length, identifiersPerWriteMax, "identifiers");
  const identifiers = readIdentifiers(request.identifiers);
  const { idempotencyKey: key } = request;
  if (key === undefined) return inTurns(context, property, (turn) => upsertOnce(turn, request, identifiers));
  if (!keyPattern.test(key)) {
    const message = "An idempotency_key is 1 to 255 printable ASCII characters without space.";
    throw new DaybookError("parameter_invalid", message, { param: "idempotency_key" });
  }
  // The key stands or falls with the write.
  return inTurns(context, property, (turn) => upsertWithKey(turn, request, identifiers, key), []);
}

async function upsertWithKey(
  turn: Turn,
  request: UpsertProfileRequest,
  identifiers: readonly WantedIdentifier[],
  key: string,
): Promise<Upserted> {
  const { database, property, now } = turn;
  const fingerprint = fingerprintOf(request);
  const [held] = await findItemKey(database, [property, key, formatMicros(now)]);
  if (held) {
    if (fingerprint.compare(held.fingerprint) !== 0) {
      const message = "This idempotency_key was used for another profile.";
      throw new DaybookError("idempotency_key_reused", message, { param: "idempotency_key" });
    }
    const [row] = await readProfiles(database, [property, [held.profile_id]]);
    if (!row) throw new Error("a profile that was upserted is gone");
    return { row: readRow(row), created: false, replayed: true };
  }
  const upserted = await upsertOnce(turn, request, identifiers);
  const expiresAt = formatMicros(now + keyAgeMaxMicros);
  const claim = [property, key, fingerprint, upserted.row.id, expiresAt, formatMicros(now)];
  const [claimed] = await claimItemKey(database, claim);
  // Another upsert with this key was faster: the next turn finds what it did.
  if (!claimed) throw new LostRace();
  return upserted;
}

async function upsertOnce(
  turn: Turn,
  request: UpsertProfileRequest,
  identifiers: readonly WantedIdentifier[],
): Promise<Upserted> {
  const holders = await findHolders(turn, identifiers);
  const [row] = holders;
  if (holders.length > 1) {
    const message = "The identifiers belong to different profiles. Merge the profiles first.";
    throw identityConflict(message, identifiers, holders, identifiersParam);
  }
  checkPrecondition(request.precondition, row?.version);
  const attributes = changeAttributes(row?.attributes ?? "{}", request);
  const location = changeLocation(row?.location ?? null, toLocationChanges(request.location));
  const { source } = request;
  if (!row) {
    return { row: await insert(turn, { identifiers, attributes, location, source }), created: true, replayed: false };
  }
  const known = new Map(row.identifiers.map((identifier) => [identifierKey(identifier), identifier.id]));
  const added = identifiers.filter((identifier) => !known.has(identifierKey(identifier)));
  const promoted = identifiers.flatMap((identifier) => {
    const id = identifier.isPrimary ? known.get(identifierKey(identifier)) : undefined;
    return id === undefined ? [] : [id];
  });
  return {
    row: await save(turn, row, { attributes, location, added, source, promoted }),
    created: false,
    replayed: false,
  };
}

/** Two items are the same when the caller sent the same in every field. */
function fingerprintOf(request: UpsertProfileRequest): Buffer {
  const { precondition: _condition, idempotencyKey: _key, propertyId: _property, ...item } = request;
  return createHash("sha256")
    .update(toBinary(UpsertProfileRequestSchema, { ...item, propertyId: "" }))
    .digest();
}
