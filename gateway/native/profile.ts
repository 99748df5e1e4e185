/** Functions that the routes of profiles and of identifiers share. */
import type { Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { profileEtag, profileJson } from "./convert/profiles.ts";
import { answerData, type MetaExtra } from "./envelope.ts";
import type { NativeExchange } from "./exchange.ts";

/**
 * Reads the profile of the path, following merges unless `resolve` is false.
 * @throws DaybookError `resource_not_found` with param `id`
 */
export async function findProfile(exchange: NativeExchange): Promise<{ profile: Profile; meta: MetaExtra }> {
  const { id } = exchange.ids;
  const profile = await (exchange.query.resolve ? exchange.readSurvivor(id) : exchange.readProfile(id));
  if (!profile) throw new DaybookError("resource_not_found", "There is no such profile.", { param: "id" });
  return { profile, meta: resolvedMeta(profile.id === id ? undefined : id) };
}

/** Meta of an answer for a merged profile. */
export function resolvedMeta(resolvedFrom: string | undefined): MetaExtra {
  return resolvedFrom === undefined ? {} : { resolved_from: resolvedFrom };
}

export function answerWritten(
  exchange: NativeExchange,
  profile: Profile | undefined,
  { created = false, resolvedFrom }: { created?: boolean; resolvedFrom?: string | undefined } = {},
): string {
  if (!profile) throw new Error("the profile was not returned");
  const { request, reply, showsValues } = exchange;
  void reply.code(created ? 201 : 200);
  void reply.header("etag", profileEtag(profile));
  if (created) void reply.header("location", `/v1/profiles/${profile.id}`);
  const shown = { expand: false, showValues: showsValues };
  // A key with the opposite right to see values may repeat the request.
  const other = request.operation ? profileJson(profile, { ...shown, showValues: !showsValues }) : undefined;
  return answerData(exchange, profileJson(profile, shown), resolvedMeta(resolvedFrom), other);
}

/** Maps params of the service to a request with the profile in its path. */
export function toPathParam(param: string): string {
  if (param === "profile_id") return "id";
  return param.replace(/^identifier\./, "");
}
