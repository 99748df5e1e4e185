import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  ProfileResolutionSchema,
  ResolveProfilesResponseSchema,
  type ProfileReference,
  type ProfileResolution,
  type ProfileService,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { toErrorMessage } from "#shared/rpc/errors.ts";
import { decodeId, encodeId, newUuid, tryDecodeId, type Uuid } from "#shared/values/ids.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import { type Database } from "#shared/database/postgres.ts";
import { isUniqueViolation } from "#shared/database/failures.ts";
import { formatMicros } from "#shared/values/time.ts";
import { createdMessage, subject } from "../announce.ts";
import type { ProfileContext } from "../context.ts";
import { identifierKey, makesProfile, normalizeIdentifier, type NormalIdentifier } from "#shared/values/identifiers.ts";
import { newProfileRef } from "../domain/ref.ts";
import { suppressedFault } from "../holders.ts";
import { createProfilesFor, findOwnersAndSuppressed, type IdentifierOwnerRow } from "../sql/identifiers.ts";
import { findTargets, type ProfileRow } from "../sql/profiles.ts";
import { redacted } from "../writing.ts";

const referencesMax = 1000;
// An attempt fails only if a profile is created or loses an identifier at the same moment.
const attemptsMax = 5;

export function resolveProfiles(context: ProfileContext): ServiceImpl<typeof ProfileService>["resolveProfiles"] {
  return async ({ propertyId, references, findOnly }) => {
    checkItemCount(references.length, referencesMax, "references");
    const property = decodeId("prop", propertyId, "property_id");
    const readings = references.map(read);
    const identifiers = new Map<string, NormalIdentifier>();
    const ids = new Set<Uuid>();
    for (const reading of readings) {
      if (reading.kind === "identifier") identifiers.set(reading.key, reading.identifier);
      else if (reading.kind === "id") ids.add(reading.uuid);
    }
    const [{ owners, suppressed }, known] = await Promise.all([
      findOrCreateOwners(context, property, identifiers, findOnly),
      findKnown(context.database, property, [...ids]),
    ]);
    return create(ResolveProfilesResponseSchema, {
      resolutions: readings.map((reading) => answer(reading, owners, suppressed, known)),
    });
  };
}

type Reading =
  | { kind: "id"; uuid: Uuid }
  | { kind: "identifier"; identifier: NormalIdentifier; key: string }
  | { kind: "error"; error: DaybookError };

function read({ reference }: ProfileReference): Reading {
  switch (reference.case) {
    case "profileId": {
      const uuid = tryDecodeId("prof", reference.value);
      if (uuid !== undefined) return { kind: "id", uuid };
      const message = "`profile_id` must be an id of the form prof_ and 26 base-32 characters.";
      return { kind: "error", error: new DaybookError("invalid_id", message, { param: "profile_id" }) };
    }
    case "identifier": {
      const identifier = normalizeIdentifier(reference.value, "identifier");
      return "errors" in identifier
        ? { kind: "error", error: DaybookError.ofFields(identifier.errors) }
        : { kind: "identifier", identifier, key: identifierKey(identifier) };
    }
    default: {
      const message = "`profile_id` is required: send the id of a profile, or `identifier`.";
      return { kind: "error", error: new DaybookError("parameter_missing", message, { param: "profile_id" }) };
    }
  }
}

type Named = Pick<ProfileRow, "id" | "status" | "merged_into">;

function answer(
  reading: Reading,
  owners: ReadonlyMap<string, Uuid>,
  suppressed: ReadonlySet<string>,
  known: ReadonlyMap<string, Named>,
): ProfileResolution {
  return create(ProfileResolutionSchema, { outcome: outcomeOf(reading, owners, suppressed, known) });
}

type Outcome = MessageInitShape<typeof ProfileResolutionSchema>["outcome"];

function outcomeOf(
  reading: Reading,
  owners: ReadonlyMap<string, Uuid>,
  suppressed: ReadonlySet<string>,
  known: ReadonlyMap<string, Named>,
): Outcome {
  if (reading.kind === "error") return { case: "error", value: toErrorMessage(reading.error) };
  if (reading.kind === "id") return answerId(reading.uuid, known);
  const { key } = reading;
  if (suppressed.has(key)) {
    return { case: "error", value: toErrorMessage(DaybookError.ofFields([suppressedFault("identifier.value")])) };
  }
  const owner = owners.get(key);
  if (owner === undefined) return { case: "unmatched", value: reading.identifier };
  return { case: "profile", value: { profileId: encodeId("prof", owner) } };
}

function answerId(uuid: Uuid, known: ReadonlyMap<string, Named>): Outcome {
  const named = known.get(uuid);
  let survivor = named;
  while (survivor && survivor.merged_into !== null) survivor = known.get(survivor.merged_into);
  if (!named || !survivor) {
    const error = new DaybookError("resource_not_found", "There is no such profile.", { param: "profile_id" });
    return { case: "error", value: toErrorMessage(error) };
  }
  if (survivor.status === "redacted") return { case: "error", value: toErrorMessage(redacted("profile_id")) };
  const value = { profileId: encodeId("prof", survivor.id) };
  return { case: "profile", value: named === survivor ? value : { ...value, resolvedFrom: encodeId("prof", uuid) } };
}

/** @returns the named profiles and the survivors of merged ones, by id. */
async function findKnown(
  database: Database,
  property: Uuid,
  ids: readonly Uuid[],
): Promise<ReadonlyMap<string, Named>> {
  const known = new Map<string, Named>();
  for (let wanted = ids; wanted.length > 0;) {
    const rows = await findTargets(database, [property, wanted]);
    for (const row of rows) known.set(row.id, row);
    wanted = rows.flatMap(({ merged_into: next }) => (next === null || known.has(next) ? [] : [next]));
  }
  return known;
}

/** The UUIDs of the profiles that have identifiers, and the suppressed ones, by identifierKey. */
interface Found {
  owners: Map<string, Uuid>;
  suppressed: Set<string>;
}

/** @param wanted identifiers by identifierKey. */
async function findOrCreateOwners(
  context: ProfileContext,
  property: Uuid,
  wanted: ReadonlyMap<string, NormalIdentifier>,
  findOnly: boolean,
): Promise<Found> {
  const owners = new Map<string, Uuid>();
  const suppressed = new Set<string>();
  const missing = (): NormalIdentifier[] => {
    const identifiers: NormalIdentifier[] = [];
    for (const [key, identifier] of wanted) {
      if (!owners.has(key) && !suppressed.has(key)) identifiers.push(identifier);
    }
    return identifiers;
  };

  for (let attempt = 1; ; attempt++) {
    const unknown = missing();
    if (unknown.length === 0) return { owners, suppressed };
    for (const row of await findOwnersAndSuppressed(context.database, [property, unknown])) {
      if (row.profile_id === null) suppressed.add(identifierKey(row));
      else owners.set(identifierKey(row), row.profile_id);
    }
    const creatable = findOnly ? [] : missing().filter(({ type }) => makesProfile(type));
    if (creatable.length === 0) return { owners, suppressed };
    if (attempt > attemptsMax) throw new Error("identifiers kept changing hands");
    for (const row of await createFor(context, property, creatable)) owners.set(identifierKey(row), row.profile_id);
  }
}

/** Creates a profile for each identifier that is still free. @returns the owners that were created. */
async function createFor(
  { database, clock, relay }: ProfileContext,
  property: Uuid,
  identifiers: readonly NormalIdentifier[],
): Promise<IdentifierOwnerRow[]> {
  const now = clock.nowMicros();
  const profiles = identifiers.map((identifier) => {
    const profile = newUuid();
    const { type, value } = identifier;
    const { id: messageId, payload } = createdMessage(property, profile, now, [identifier]);
    const ref = newProfileRef();
    return { profile_id: profile, id: newUuid(), type, value, ref, message_id: messageId, payload };
  });
  try {
    const made = await createProfilesFor(database, [property, "api", formatMicros(now), subject, profiles]);
    relay.wake();
    return made;
  } catch (error) {
    // Another profile has one of the compact references. The next attempt draws new ones.
    if (isUniqueViolation(error)) return [];
    throw error;
  }
}
