/** What the routes of profiles have in common: reading them with what is shown, and writing the one that an event is of. */
import type { FastifyRequest } from "fastify";
import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { PreconditionSchema, type Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import { calling, callOptions } from "#shared/interceptors.ts";
import { operationOf } from "../plugins/idempotency.ts";
import { callerOf, callOf } from "../plugins/request.ts";
import type { CompatContext } from "./context.ts";
import { toId } from "./convert/ids.ts";
import type { ProfileWrite } from "./convert/profile-in.ts";
import { profileResource } from "./convert/profile-out.ts";
import { identifiersToRemove, toPointer, toUpdateRequest, toUpsertRequest } from "./convert/profile-requests.ts";
import type { Links } from "./links.ts";
import type { Query } from "./query.ts";
import type { Resource } from "./reply.ts";
import { pick } from "./sparse.ts";

const lastEventsMax = 500;
// Of as many writers at the same time each has its turn.
const turnsMax = 50;

/** Makes resources of profiles, with when something last happened to each. */
export async function toProfileResources(
  { clients }: CompatContext,
  request: FastifyRequest,
  profiles: readonly Profile[],
  query: Pick<Query, "fields" | "additional">,
  links: Links,
): Promise<Resource[]> {
  const caller = callerOf(request);
  const wanted = query.fields.get("profile");
  const lastEvents = new Map<string, Timestamp>();
  if (!wanted || wanted.includes("last_event_date")) {
    const ids = profiles.map(({ id }) => id);
    for (let at = 0; at < ids.length; at += lastEventsMax) {
      const asked = { propertyId: caller.propertyId, profileIds: ids.slice(at, at + lastEventsMax) };
      const found = await calling(clients.events.getLastEvents(asked, callOptions(callOf(request))));
      for (const { profileId, occurredAt } of found.lastEvents) if (occurredAt) lastEvents.set(profileId, occurredAt);
    }
  }
  const shown = { values: caller.scopes.has("identifiers:read_value"), additional: query.additional };
  return profiles.map((profile) =>
    pick(profileResource(profile, lastEvents.get(profile.id), shown, links.to(`/profiles/${profile.id}`)), query),
  );
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
 */
export async function replaceInProfile(
  context: CompatContext,
  request: FastifyRequest,
  id: string,
  write: ProfileWrite,
  { pointers, param }: { pointers: ProfilePointers; param: string },
): Promise<Profile> {
  const asItIs = write.identifiers.length + write.cleared.size > 0;
  for (let turn = 0; turn < turnsMax; turn++) {
    const before = await findProfile(context, request, id, param);
    const remove = identifiersToRemove(before, write);
    try {
      return await updateProfile(context, request, before, write, { pointers, remove, asItIs });
    } catch (error) {
      if (!(error instanceof DaybookError) || error.code !== "precondition_failed") throw error;
    }
  }
  throw new DaybookError("service_unavailable", "Too many write to this profile at the same time. Try again.");
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
