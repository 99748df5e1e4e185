/** What the routes of profiles have in common: reading them with what is shown, and writing the one that an event is of. */
import type { FastifyRequest } from "fastify";
import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { PreconditionSchema, type Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { calling, callOptions } from "#shared/rpc/interceptors.ts";
import { requireScope } from "../plugins/authentication.ts";
import { maySeeValues, operationOf } from "../plugins/idempotency.ts";
import { callerOf, callOf } from "../plugins/request.ts";
import type { CompatContext } from "./context.ts";
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
import type { Links } from "./links.ts";
import type { Query } from "./query.ts";
import type { Resource } from "./reply.ts";
import { pick } from "./sparse.ts";

const lastEventsMax = 500;
// Of as many writers at the same time each has its turn.
const turnsMax = 50;

type ShownQuery = Pick<Query, "fields" | "additional">;

/** Makes resources of profiles, with when something last happened to each. */
export async function toProfileResources(
  context: CompatContext,
  request: FastifyRequest,
  profiles: readonly Profile[],
  query: ShownQuery,
  links: Links,
): Promise<Resource[]> {
  const lastEvents = await findLastEvents(context, request, profiles, query);
  return profiles.map((profile) => toResource(profile, lastEvents, maySeeValues(request), query, links));
}

/** Makes the resource of a profile that was written: for the caller, and as the other kind of key gets it, as `otherBody` of plugins/idempotency.ts. */
export async function toWrittenProfile(
  context: CompatContext,
  request: FastifyRequest,
  profile: Profile,
  query: ShownQuery,
  links: Links,
): Promise<{ own: Resource; other: Resource }> {
  const lastEvents = await findLastEvents(context, request, [profile], query);
  const values = maySeeValues(request);
  return {
    own: toResource(profile, lastEvents, values, query, links),
    other: toResource(profile, lastEvents, !values, query, links),
  };
}

function toResource(
  profile: Profile,
  lastEvents: ReadonlyMap<string, Timestamp>,
  values: boolean,
  query: ShownQuery,
  links: Links,
): Resource {
  const shown = { values, additional: query.additional };
  return pick(profileResource(profile, lastEvents.get(profile.id), shown, links.to(`/profiles/${profile.id}`)), query);
}

/** When something last happened to profiles, by id; nothing when the query does not ask for it. */
async function findLastEvents(
  { clients }: CompatContext,
  request: FastifyRequest,
  profiles: readonly Profile[],
  query: ShownQuery,
): Promise<Map<string, Timestamp>> {
  const lastEvents = new Map<string, Timestamp>();
  const wanted = query.fields.get("profile");
  if (wanted && !wanted.includes("last_event_date")) return lastEvents;
  const { propertyId } = callerOf(request);
  const ids = profiles.map(({ id }) => id);
  for (let at = 0; at < ids.length; at += lastEventsMax) {
    const asked = { propertyId, profileIds: ids.slice(at, at + lastEventsMax) };
    const found = await calling(clients.events.getLastEvents(asked, callOptions(callOf(request))));
    for (const { profileId, occurredAt } of found.lastEvents) if (occurredAt) lastEvents.set(profileId, occurredAt);
  }
  return lastEvents;
}

/**
 * Reads the profile of an id, or the survivor in its place.
 * @param id as it was sent.
 * @throws DaybookError `resource_not_found` with `param`.
 */
export async function findProfile(
  { profiles }: CompatContext,
  request: FastifyRequest,
  id: string,
  param: string,
): Promise<Profile> {
  const { propertyId } = callerOf(request);
  let next = toId("prof", id);
  while (next !== undefined) {
    const profile = await profiles.readOne(propertyId, next, callOf(request));
    if (!profile) break;
    if (profile.mergedInto === undefined) return profile;
    next = profile.mergedInto;
  }
  throw noSuchProfile(id, param);
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
  { clients }: CompatContext,
  request: FastifyRequest,
  profile: Profile,
  write: ProfileWrite,
  {
    pointers,
    part,
    remove = [],
    asItIs = false,
  }: { pointers: ProfilePointers; part?: string; remove?: string[]; asItIs?: boolean },
): Promise<Profile> {
  const { propertyId } = callerOf(request);
  const asked = clients.profiles.updateProfile(
    {
      ...toUpdateRequest(propertyId, profile.id, write, remove),
      ...(asItIs ? { precondition: create(PreconditionSchema, { versions: [profile.version] }) } : {}),
      ...operationOf(request, part),
    },
    callOptions(callOf(request)),
  );
  const response = await calling(asked, toPointer(write, pointers.attributes, pointers.id));
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
  context: CompatContext,
  request: FastifyRequest,
  id: string,
  write: ProfileWrite,
  { pointers, param, mayAdd }: { pointers: ProfilePointers; param: string; mayAdd: boolean },
): Promise<Profile> {
  checkPatches(request, [write]);
  const asItIs = write.identifiers.length + write.cleared.size > 0;
  for (let turn = 0; turn < turnsMax; turn++) {
    const before = await findProfile(context, request, id, param);
    const remove = identifiersToRemove(before, write);
    if (remove.length > 0 || (!mayAdd && addsIdentifiers(before, write))) {
      requireScope(callerOf(request), "identifiers:write");
    }
    try {
      return await updateProfile(context, request, before, write, { pointers, remove, asItIs });
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
export function checkPatches(request: FastifyRequest, writes: readonly ProfileWrite[]): void {
  if (writes.some(({ patchesIdentifiers }) => patchesIdentifiers)) {
    requireScope(callerOf(request), "identifiers:write");
  }
}

/** Writes to the profile that the identifiers belong to, or makes it. @param part as in updateProfile. */
export async function upsertProfile(
  { profiles }: CompatContext,
  request: FastifyRequest,
  write: ProfileWrite,
  { pointers, part, preferFirst }: { pointers: ProfilePointers; part?: string; preferFirst: boolean },
): Promise<{ profile: Profile; created: boolean }> {
  const { propertyId } = callerOf(request);
  try {
    const upsert = { ...toUpsertRequest(propertyId, write, preferFirst), ...operationOf(request, part) };
    const { profile, created } = await profiles.upsertOne(propertyId, upsert, callOf(request));
    if (!profile) throw new Error("the profile was not returned");
    return { profile, created };
  } catch (error) {
    if (error instanceof DaybookError) throw error.withParams(toPointer(write, pointers.attributes, pointers.id));
    throw error;
  }
}
