import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  ProfileResolutionSchema,
  ResolveProfilesResponseSchema,
  type ProfileReference,
  type ProfileResolution,
  type ProfileService,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError, toErrorMessage } from "#shared/errors.ts";
import { decodeId, encodeId, newUuid, tryDecodeId } from "#shared/ids.ts";
import { checkItemCount } from "#shared/limits.ts";
import type { Database } from "#shared/postgres.ts";
import type { ServiceContext } from "#shared/service.ts";
import { formatMicros } from "#shared/time.ts";
import { identifierKey, makesProfile, normalizeIdentifier, type NormalIdentifier } from "../domain/identifiers.ts";
import { createProfilesFor, findOwners } from "../sql/identifiers.ts";
import { findProfileIds } from "../sql/profiles.ts";

const referencesMax = 1000;
// Each turn loses only to a profile made or unmade in that very moment.
const turnsMax = 5;

export function resolveProfiles(context: ServiceContext): ServiceImpl<typeof ProfileService>["resolveProfiles"] {
  return async ({ propertyId, references }) => {
    checkItemCount(references.length, referencesMax, "references");
    const property = decodeId("prop", propertyId, "property_id");
    const readings = references.map(read);
    const identifiers = readings.flatMap((reading) => (reading.kind === "identifier" ? [reading.identifier] : []));
    const ids = readings.flatMap((reading) => (reading.kind === "id" ? [reading.uuid] : []));
    const [owners, known] = await Promise.all([
      findOrCreateOwners(context, property, identifiers),
      findKnown(context.database, property, ids),
    ]);
    return create(ResolveProfilesResponseSchema, {
      resolutions: readings.map((reading) => answer(reading, owners, known)),
    });
  };
}

type Reading =
  | { kind: "id"; uuid: string }
  | { kind: "identifier"; identifier: NormalIdentifier }
  | { kind: "error"; error: DaybookError };

function read({ reference }: ProfileReference): Reading {
  switch (reference.case) {
    case "profileId": {
      const uuid = tryDecodeId("prof", reference.value);
      if (uuid !== undefined) return { kind: "id", uuid };
      const message = "This is not an id of the form prof_ and 26 base-32 characters.";
      return { kind: "error", error: new DaybookError("invalid_id", message, { param: "profile_id" }) };
    }
    case "identifier": {
      const identifier = normalizeIdentifier(reference.value, "identifier");
      return "errors" in identifier
        ? { kind: "error", error: DaybookError.ofFields(identifier.errors) }
        : { kind: "identifier", identifier };
    }
    default: {
      const message = "Either profile_id or identifier is needed.";
      return { kind: "error", error: new DaybookError("parameter_missing", message, { param: "profile_id" }) };
    }
  }
}

function answer(reading: Reading, owners: Map<string, string>, known: ReadonlySet<string>): ProfileResolution {
  const outcome = ((): MessageInitShape<typeof ProfileResolutionSchema>["outcome"] => {
    if (reading.kind === "error") return { case: "error", value: toErrorMessage(reading.error) };
    const uuid =
      reading.kind === "identifier"
        ? owners.get(identifierKey(reading.identifier))
        : known.has(reading.uuid)
          ? reading.uuid
          : undefined;
    if (uuid !== undefined) return { case: "profile", value: { profileId: encodeId("prof", uuid) } };
    if (reading.kind === "identifier") return { case: "unmatched", value: reading.identifier };
    const error = new DaybookError("resource_not_found", "There is no such profile.", { param: "profile_id" });
    return { case: "error", value: toErrorMessage(error) };
  })();
  return create(ProfileResolutionSchema, { outcome });
}

async function findKnown(database: Database, property: string, ids: string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  return new Set((await findProfileIds(database, [property, ids])).map(({ id }) => id));
}

/** @returns the UUID of the profile that has each identifier, by identifierKey. */
async function findOrCreateOwners(
  { database, clock }: ServiceContext,
  property: string,
  identifiers: readonly NormalIdentifier[],
): Promise<Map<string, string>> {
  const owners = new Map<string, string>();
  const wanted = new Map(identifiers.map((identifier) => [identifierKey(identifier), identifier]));
  const missing = (): NormalIdentifier[] =>
    [...wanted].flatMap(([key, identifier]) => (owners.has(key) ? [] : [identifier]));
  const columns = (list: readonly NormalIdentifier[]): [string[], string[]] => [
    list.map(({ type }) => type),
    list.map(({ value }) => value),
  ];

  for (let turn = 1; ; turn++) {
    const unknown = missing();
    if (unknown.length === 0) return owners;
    for (const row of await findOwners(database, [property, ...columns(unknown)])) {
      owners.set(identifierKey(row), row.profile_id);
    }
    const creatable = missing().filter(({ type }) => makesProfile(type));
    if (creatable.length === 0) return owners;
    if (turn > turnsMax) throw new Error("identifiers kept changing hands");
    const made = await createProfilesFor(database, [
      property,
      creatable.map(newUuid),
      creatable.map(newUuid),
      ...columns(creatable),
      "api",
      formatMicros(clock.nowMicros()),
    ]);
    for (const row of made) owners.set(identifierKey(row), row.profile_id);
  }
}
