/** What the routes of profiles and of their identifiers have in common. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
import { maySeeValues } from "../plugins/idempotency.ts";
import { callerOf, callOf } from "../plugins/request.ts";
import type { Profiles } from "../profiles.ts";
import { profileEtag, profileJson, type ShownIdentifiers } from "./convert/profiles.ts";
import { sendData, type MetaExtra } from "./envelope.ts";
import type { Query } from "./query.ts";

/**
 * Reads the profile of a path.
 * @param resolve reads the survivor in the place of a merged profile.
 * @throws DaybookError `invalid_id` or `resource_not_found` with param `id`.
 */
export async function findProfile(
  profiles: Profiles,
  request: FastifyRequest,
  id: string,
  resolve: boolean,
): Promise<{ profile: Profile; meta: MetaExtra }> {
  const asked = encodeId("prof", decodeId("prof", id, "id"));
  const { propertyId } = callerOf(request);
  const read = async (profileId: string): Promise<Profile> => {
    const profile = await profiles.readOne(propertyId, profileId, callOf(request));
    if (!profile) throw new DaybookError("resource_not_found", "There is no such profile.", { param: "id" });
    // Again, should the survivor be merged between the looks.
    return resolve && profile.mergedInto !== undefined ? read(profile.mergedInto) : profile;
  };
  const profile = await read(asked);
  return { profile, meta: resolvedMeta(profile.id === asked ? undefined : asked) };
}

/** What meta says when a merged profile was named. */
export function resolvedMeta(resolvedFrom: string | undefined): MetaExtra {
  return resolvedFrom === undefined ? {} : { resolved_from: resolvedFrom };
}

/** Answers a write with the profile as it now is. */
export function sendWritten(
  request: FastifyRequest,
  reply: FastifyReply,
  profile: Profile | undefined,
  { created = false, resolvedFrom }: { created?: boolean; resolvedFrom?: string | undefined } = {},
): FastifyReply {
  if (!profile) throw new Error("the profile was not returned");
  void reply.code(created ? 201 : 200);
  void reply.header("etag", profileEtag(profile));
  if (created) void reply.header("location", `/v1/profiles/${profile.id}`);
  const shown = unexpanded(request);
  // A key that sees more, or less, may repeat the request.
  const other = request.operation ? profileJson(profile, { ...shown, showValues: !shown.showValues }) : undefined;
  return sendData(request, reply, profileJson(profile, shown), resolvedMeta(resolvedFrom), other);
}

/** How identifiers are shown to a caller. */
export function shownIdentifiers(request: FastifyRequest, { expands }: Query): ShownIdentifiers {
  return { expand: expands.has("identifiers"), showValues: maySeeValues(request) };
}

/** How a profile is shown to a caller that did not ask for its identifiers. */
export function unexpanded(request: FastifyRequest): ShownIdentifiers {
  return { expand: false, showValues: maySeeValues(request) };
}

/** Names the fields at fault as a request with the profile in its path does. */
export function toPathParam(param: string): string {
  if (param === "profile_id") return "id";
  return param.replace(/^identifier\./, "");
}
