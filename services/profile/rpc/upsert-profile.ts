import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  UpsertProfileResponseSchema,
  type IdentifierInput,
  type ProfileService,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError, type FieldError } from "#shared/errors.ts";
import { decodeId, encodeId, newUuid } from "#shared/ids.ts";
import { checkItemCount } from "#shared/limits.ts";
import { withTransaction, type Transaction } from "#shared/postgres.ts";
import type { ServiceContext } from "#shared/service.ts";
import { formatMicros } from "#shared/time.ts";
import { toLocationChanges } from "../convert.ts";
import { mergeAttributes } from "../domain/attributes.ts";
import { identifierKey, normalizeIdentifier, type NormalIdentifier } from "../domain/identifiers.ts";
import { changeLocation, type LocationChanges } from "../domain/location.ts";
import { toProfile } from "../mapping.ts";
import { addIdentifiers, demoteOthers, findOwners, promote } from "../sql/identifiers.ts";
import { insertProfile, lockProfile, readProfiles, updateProfile } from "../sql/profiles.ts";

const identifiersMax = 100;
const turnsMax = 5;

type WantedIdentifier = NormalIdentifier & { isPrimary: boolean };

interface Write {
  property: string;
  identifiers: WantedIdentifier[];
  attributesJson: string | undefined;
  location: LocationChanges;
  source: string;
  now: string;
}

export function upsertProfile(context: ServiceContext): ServiceImpl<typeof ProfileService>["upsertProfile"] {
  return async (request) => {
    checkItemCount(request.identifiers.length, identifiersMax, "identifiers");
    const write: Write = {
      property: decodeId("prop", request.propertyId, "property_id"),
      identifiers: readIdentifiers(request.identifiers),
      attributesJson: request.attributesJson,
      location: toLocationChanges(request.location),
      source: request.source,
      now: formatMicros(context.clock.nowMicros()),
    };
    for (let turn = 1; turn <= turnsMax; turn++) {
      const result = await withTransaction(context.database, (tx) => upsertOnce(tx, write)).catch(lostRace);
      if (result) return create(UpsertProfileResponseSchema, result);
    }
    throw new Error("identifiers kept changing hands");
  };
}

/** Somebody else was given one of the identifiers between the look and the write: the transaction is undone and tried anew. */
class LostRace extends Error {}

function lostRace(error: unknown): undefined {
  if (!(error instanceof LostRace)) throw error;
}

function readIdentifiers(inputs: readonly IdentifierInput[]): WantedIdentifier[] {
  const errors: FieldError[] = [];
  const wanted = new Map<string, WantedIdentifier>();
  const primaries = new Set<string>();
  for (const [index, input] of inputs.entries()) {
    const param = `identifiers.${index}`;
    const identifier = normalizeIdentifier(input, param);
    if ("errors" in identifier) {
      errors.push(...identifier.errors);
      continue;
    }
    const key = identifierKey(identifier);
    if (wanted.has(key)) {
      errors.push({ code: "parameter_invalid", message: "The same identifier stands here twice.", param });
    } else if (input.isPrimary && primaries.has(identifier.type)) {
      const message = `Two identifiers of type ${identifier.type} are marked as primary.`;
      errors.push({ code: "parameter_conflict", message, param: `${param}.is_primary` });
    }
    if (input.isPrimary) primaries.add(identifier.type);
    wanted.set(key, { ...identifier, isPrimary: input.isPrimary });
  }
  if (errors.length > 0) throw DaybookError.ofFields(errors);
  return [...wanted.values()];
}

async function upsertOnce(tx: Transaction, write: Write) {
  const owners = await findOwners(tx, [write.property, ...columns(write.identifiers)]);
  const [id, ...others] = new Set(owners.map(({ profile_id }) => profile_id));
  if (others.length > 0) throw identityConflict(write, owners);
  if (id === undefined) {
    const created = newUuid();
    await insertProfile(tx, [
      write.property,
      created,
      mergeAttributes("{}", write.attributesJson ?? "{}"),
      changeLocation(null, write.location),
      write.now,
    ]);
    await add(tx, write, created, write.identifiers);
    return { profile: await read(tx, write.property, created), created: true };
  }

  const [current] = await lockProfile(tx, [write.property, id]);
  if (!current) throw new LostRace();
  const owned = new Set(owners.map(identifierKey));
  const missing = write.identifiers.filter((identifier) => !owned.has(identifierKey(identifier)));
  const attributes =
    write.attributesJson === undefined ? current.attributes : mergeAttributes(current.attributes, write.attributesJson);
  const location = changeLocation(current.location, write.location);
  const promoted = await promoteOwned(tx, write, id, owned);
  if (missing.length > 0) await add(tx, write, id, missing);
  const changed =
    promoted ||
    missing.length > 0 ||
    attributes !== current.attributes ||
    JSON.stringify(location) !== JSON.stringify(changeLocation(current.location, {}));
  if (changed) await updateProfile(tx, [write.property, id, attributes, location, write.now]);
  return { profile: await read(tx, write.property, id), created: false };
}

/** Marks those of the identifiers that the profile already has. @returns whether any mark is new. */
async function promoteOwned(tx: Transaction, write: Write, id: string, owned: Set<string>): Promise<boolean> {
  const marked = write.identifiers.filter((identifier) => identifier.isPrimary);
  if (marked.length === 0) return false;
  await demoteOthers(tx, [write.property, id, ...columns(marked), write.now]);
  const kept = marked.filter((identifier) => owned.has(identifierKey(identifier)));
  return (await promote(tx, [write.property, id, ...columns(kept), write.now])).length > 0;
}

async function add(tx: Transaction, write: Write, id: string, identifiers: readonly WantedIdentifier[]): Promise<void> {
  const added = await addIdentifiers(tx, [
    write.property,
    id,
    identifiers.map(newUuid),
    ...columns(identifiers),
    identifiers.map(({ isPrimary }) => isPrimary),
    write.source,
    write.now,
  ]);
  if (added.length < identifiers.length) throw new LostRace();
}

async function read(tx: Transaction, property: string, id: string) {
  const [row] = await readProfiles(tx, [property, [id]]);
  if (!row) throw new Error("the profile is not there after its write");
  return toProfile(row);
}

function identityConflict(write: Write, owners: readonly (NormalIdentifier & { profile_id: string })[]): DaybookError {
  const holders = new Map(owners.map((owner) => [identifierKey(owner), owner.profile_id]));
  const message = "The identifiers belong to different profiles. Merge the profiles first.";
  const errors = write.identifiers.flatMap((identifier, index): FieldError[] => {
    const holder = holders.get(identifierKey(identifier));
    if (holder === undefined) return [];
    const profile = encodeId("prof", holder);
    return [
      { code: "identity_conflict", message: `This identifier belongs to ${profile}.`, param: `identifiers.${index}` },
    ];
  });
  return new DaybookError("identity_conflict", message, { param: "identifiers", errors });
}

function columns(identifiers: readonly NormalIdentifier[]): [string[], string[]] {
  return [identifiers.map(({ type }) => type), identifiers.map(({ value }) => value)];
}
