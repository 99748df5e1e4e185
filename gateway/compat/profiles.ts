/** What the routes of profiles have in common: reading them with what is shown, and writing the one that an event is of. */
import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { PreconditionSchema, type Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { requireScope, type Caller } from "../plugins/authentication.ts";
import { operationOf } from "../plugins/idempotency.ts";
import { toId } from "./convert/ids.ts";
import type { ProfileWrite } from "./convert/profile-in.ts";
import { profileResource } from "./convert/profile-out.ts";
import {
  addsIdentifiers,
  identifiersToRemove,
  toPointer,
  toUpdateRequest,
  toUpsertRequest,
} from "./convert/profile-requests.ts";
import type { CompatExchange } from "./exchange.ts";
import type { Exchange } from "../surface/exchange.ts";
import type { Resource } from "./reply.ts";
import { pick } from "./sparse.ts";

const lastEventsMax = 500;
// Of as many writers at the same time each has its turn.
const turnsMax = 50;

/** Makes resources of profiles, with when something last happened to each. */
export async function toProfileResources(exchange: CompatExchange, profiles: readonly Profile[]): Promise<Resource[]> {
  const lastEvents = await findLastEvents(exchange, profiles);
  return profiles.map((profile) => toResource(exchange, profile, lastEvents, exchange.showsValues));
}

/** Makes the resource of a profile that was written: for the caller, and as the other kind of key gets it, as `otherBody` of plugins/idempotency.ts. */
export async function toWrittenProfile(
  exchange: CompatExchange,
  profile: Profile,
): Promise<{ own: Resource; other: Resource }> {
  const lastEvents = await findLastEvents(exchange, [profile]);
  return {
    own: toResource(exchange, profile, lastEvents, exchange.showsValues),
    other: toResource(exchange, profile, lastEvents, !exchange.showsValues),
  };
}

function toResource(
  { query, links }: CompatExchange,
  profile: Profile,
  lastEvents: ReadonlyMap<string, Timestamp>,
  values: boolean,
): Resource {
  const shown = { values, additional: query.additional };
  return pick(profileResource(profile, lastEvents.get(profile.id), shown, links.to(`/profiles/${profile.id}`)), query);
}

/** When something last happened to profiles, by id; nothing when the query does not ask for it. */
async function findLastEvents(
  { query, propertyId, services }: CompatExchange,
  profiles: readonly Profile[],
): Promise<Map<string, Timestamp>> {
  const lastEvents = new Map<string, Timestamp>();
  const wanted = query.fields.get("profile");
  if (wanted && !wanted.includes("last_event_date")) return lastEvents;
  const ids = profiles.map(({ id }) => id);
  for (let at = 0; at < ids.length; at += lastEventsMax) {
    const some = ids.slice(at, at + lastEventsMax);
    const found = await services.events.getLastEvents({ propertyId, profileIds: some });
    for (const { profileId, occurredAt } of found.lastEvents) if (occurredAt) lastEvents.set(profileId, occurredAt);
  }
  return lastEvents;
}

/**
 * Reads the profile of an id, or the survivor in its place.
 * @param id as it was sent.
 * @throws DaybookError `resource_not_found` with `param`.
 */
export async function findProfile(exchange: Exchange, id: string, param: string): Promise<Profile> {
  const profileId = toId("prof", id);
  const profile = profileId === undefined ? undefined : await exchange.readSurvivor(profileId);
  if (!profile) throw noSuchProfile(id, param);
  return profile;
}

/** There is no profile of an id. */
export function noSuchProfile(id: string, param: string): DaybookError {
  const shown = id.length <= 64 && /^[\w-]*$/.test(id) ? ` with id ${id}` : "";
  return new DaybookError("resource_not_found", `A profile${shown} does not exist.`, { param });
}

/** Where a profile stands in a body. */
export interface ProfilePointers {
  id: string;
  attributes: string;
}

/**
 * Writes to a profile by its id.
 * @param part which part of the request's operation it is, when there are several.
 * @param asItIs to write only if nobody else has since it was read.
 */
export async function updateProfile(
  { request, propertyId, services }: Exchange,
  profile: Profile,
  write: ProfileWrite,
  {
    pointers,
    part,
    remove = [],
    asItIs = false,
  }: { pointers: ProfilePointers; part?: string; remove?: string[]; asItIs?: boolean },
): Promise<Profile> {
  const response = await services.profiles.updateProfile(
    {
      ...toUpdateRequest(propertyId, profile.id, write, remove),
      ...(asItIs ? { precondition: create(PreconditionSchema, { versions: [profile.version] }) } : {}),
      ...operationOf(request, part),
    },
    toPointer(write, pointers.attributes, pointers.id),
  );
  if (!response.profile) throw new Error("the profile was not returned");
  return response.profile;
}

/**
 * Writes to a profile by its id, where new identifiers take the place of those it has. What it loses is decided by the profile as it is, and
 * anew when somebody else wrote since: of writes at the same time one is the last, and nothing of the others stays.
 * @param param what names the id.
 * @param mayAdd whether identifiers that the profile does not have are added without the scope for changing identifiers.
 * @throws DaybookError `missing_scope` when the caller may not change identifiers as asked.
 */
export async function replaceInProfile(
  exchange: Exchange,
  id: string,
  write: ProfileWrite,
  { pointers, param, mayAdd }: { pointers: ProfilePointers; param: string; mayAdd: boolean },
): Promise<Profile> {
  checkPatches(exchange.caller, [write]);
  const asItIs = write.identifiers.length + write.cleared.size > 0;
  for (let turn = 0; turn < turnsMax; turn++) {
    const before = await findProfile(exchange, id, param);
    const remove = identifiersToRemove(before, write);
    if (remove.length > 0 || (!mayAdd && addsIdentifiers(before, write))) {
      requireScope(exchange.caller, "identifiers:write");
    }
    try {
      return await updateProfile(exchange, before, write, { pointers, remove, asItIs });
    } catch (error) {
      if (!(error instanceof DaybookError) || error.code !== "precondition_failed") throw error;
    }
  }
  throw new DaybookError("service_unavailable", "Too many write to this profile at the same time. Try again.");
}

/**
 * Checks the scope for `meta.patch_identifiers`. Identifiers that a body names beside each other need no scope but the one of the write: they
 * say whose it is.
 * @throws DaybookError `missing_scope`
 */
export function checkPatches(caller: Caller, writes: readonly ProfileWrite[]): void {
  if (writes.some(({ patchesIdentifiers }) => patchesIdentifiers)) {
    requireScope(caller, "identifiers:write");
  }
}

/** Writes to the profile that the identifiers belong to, or makes it. @param part as in updateProfile. */
export async function upsertProfile(
  exchange: Exchange,
  write: ProfileWrite,
  { pointers, part, preferFirst }: { pointers: ProfilePointers; part?: string; preferFirst: boolean },
): Promise<{ profile: Profile; created: boolean }> {
  const { propertyId, request } = exchange;
  try {
    const upsert = { ...toUpsertRequest(propertyId, write, preferFirst), ...operationOf(request, part) };
    const { profile, created } = await exchange.upsertProfile(upsert);
    if (!profile) throw new Error("the profile was not returned");
    return { profile, created };
  } catch (error) {
    if (error instanceof DaybookError) throw error.withParams(toPointer(write, pointers.attributes, pointers.id));
    throw error;
  }
}
