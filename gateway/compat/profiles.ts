/** Shared by the routes of profiles and events: shows profiles, and writes the profile of a body. */
import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { PreconditionSchema, type Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import type { Caller } from "../callers.ts";
import { requireScope } from "../plugins/authentication.ts";
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
// Each attempt of concurrent writers has one winner, so this many writers all succeed.
const attemptsMax = 50;

/** Converts profiles to resources, with the time of their last event. */
export async function toProfileResources(exchange: CompatExchange, profiles: readonly Profile[]): Promise<Resource[]> {
  const lastEvents = await findLastEvents(exchange, profiles);
  return profiles.map((profile) => toResource(exchange, profile, lastEvents, exchange.showsValues));
}

/** A written profile for the caller, and for keys with the other visibility (`otherBody` of plugins/idempotency.ts). */
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

/** Times of last events by profile id; empty if the query leaves the field out. */
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
 * Reads a profile, or its survivor.
 * @param id as it was sent.
 * @throws DaybookError `resource_not_found` with `param`.
 */
export async function findProfile(exchange: Exchange, id: string, param: string): Promise<Profile> {
  const profileId = toId("prof", id);
  const profile = profileId === undefined ? undefined : await exchange.readSurvivor(profileId);
  if (!profile) throw noSuchProfile(id, param);
  return profile;
}

export function noSuchProfile(id: string, param: string): DaybookError {
  const shown = id.length <= 64 && /^[\w-]*$/.test(id) ? ` with id ${id}` : "";
  return new DaybookError("resource_not_found", `A profile${shown} does not exist.`, { param });
}

/** JSON pointers to a profile in the body. */
export interface ProfilePointers {
  id: string;
  attributes: string;
}

/**
 * Updates a profile by id.
 * @param part of the request's operation, if it has several.
 * @param asItIs writes only if the version is the one read.
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
 * Updates a profile by id; new identifiers replace old ones. The identifiers to remove depend on the profile as it was
 * read, so an optimistic conflict reads it again. Of concurrent writes the last one replaces the others.
 * @param param names the id in errors.
 * @param mayAdd adds new identifiers without the scope for changing identifiers.
 * @throws DaybookError `missing_scope` if the caller may not change identifiers.
 */
export async function replaceInProfile(
  exchange: Exchange,
  id: string,
  write: ProfileWrite,
  { pointers, param, mayAdd }: { pointers: ProfilePointers; param: string; mayAdd: boolean },
): Promise<Profile> {
  checkPatches(exchange.caller, [write]);
  const asItIs = write.identifiers.length + write.cleared.size > 0;
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
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
 * Checks the scope for `meta.patch_identifiers`. Other identifiers of a body need only the scope of the write, because
 * they select the profile.
 * @throws DaybookError `missing_scope`
 */
export function checkPatches(caller: Caller, writes: readonly ProfileWrite[]): void {
  if (writes.some(({ patchesIdentifiers }) => patchesIdentifiers)) {
    requireScope(caller, "identifiers:write");
  }
}

/** Updates the profile of the identifiers, or creates it. @param part as in updateProfile. */
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
