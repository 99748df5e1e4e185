/** What the routes of profiles and of their identifiers have in common. */
import type { FastifyReply } from "fastify";
import type { Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { profileEtag, profileJson } from "./convert/profiles.ts";
import { sendData, type MetaExtra } from "./envelope.ts";
import type { NativeExchange } from "./exchange.ts";

/**
 * Reads the profile of a path, or the survivor in its place unless `resolve` says otherwise.
 * @throws DaybookError `resource_not_found` with param `id`.
 */
export async function findProfile(exchange: NativeExchange): Promise<{ profile: Profile; meta: MetaExtra }> {
  const { id } = exchange.ids;
  const profile = await (exchange.query.resolve ? exchange.readSurvivor(id) : exchange.readProfile(id));
  if (!profile) throw new DaybookError("resource_not_found", "There is no such profile.", { param: "id" });
  return { profile, meta: resolvedMeta(profile.id === id ? undefined : id) };
}

/** What meta says when a merged profile was named. */
export function resolvedMeta(resolvedFrom: string | undefined): MetaExtra {
  return resolvedFrom === undefined ? {} : { resolved_from: resolvedFrom };
}

/** Answers a write with the profile as it now is. */
export function sendWritten(
  exchange: NativeExchange,
  profile: Profile | undefined,
  { created = false, resolvedFrom }: { created?: boolean; resolvedFrom?: string | undefined } = {},
): FastifyReply {
  if (!profile) throw new Error("the profile was not returned");
  const { request, reply, showsValues } = exchange;
  void reply.code(created ? 201 : 200);
  void reply.header("etag", profileEtag(profile));
  if (created) void reply.header("location", `/v1/profiles/${profile.id}`);
  const shown = { expand: false, showValues: showsValues };
  // A key that sees more, or less, may repeat the request.
  const other = request.operation ? profileJson(profile, { ...shown, showValues: !showsValues }) : undefined;
  return sendData(exchange, profileJson(profile, shown), resolvedMeta(resolvedFrom), other);
}

/** Names the fields at fault as a request with the profile in its path does. */
export function toPathParam(param: string): string {
  if (param === "profile_id") return "id";
  return param.replace(/^identifier\./, "");
}
