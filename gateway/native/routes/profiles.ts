import type { FastifyInstance } from "fastify";
import { DaybookError } from "#shared/errors.ts";
import { decodeId } from "#shared/ids.ts";
import { calling, callOptions } from "#shared/interceptors.ts";
import { isJsonObject } from "#shared/json.ts";
import type { Caller } from "../../plugins/authentication.ts";
import { callerOf, callOf } from "../../plugins/request.ts";
import type { NativeContext } from "../context.ts";
import { fromGuideUpsert, profileEtag, profileJson, toUpsertRequest } from "../convert.ts";
import { sendData } from "../envelope.ts";
import { readQuery } from "../query.ts";
import { GuideProfileUpsert, ProfileUpsert } from "../schemas.ts";
import { createReader } from "../validation.ts";

const upsertReader = createReader(ProfileUpsert);
const guideUpsertReader = createReader(GuideProfileUpsert);

export function profileRoutes(app: FastifyInstance, { clients }: NativeContext): void {
  app.post("/profiles/upsert", { config: { scope: "profiles:write" } }, async (request, reply) => {
    readQuery(request.query, {});
    const caller = callerOf(request);
    const isGuide = isJsonObject(request.body) && isJsonObject(request.body.identifiers);
    const upsert = isGuide
      ? fromGuideUpsert(caller.propertyId, guideUpsertReader.read(request.body))
      : toUpsertRequest(caller.propertyId, upsertReader.read(request.body));
    const types = isGuide ? (upsert.identifiers ?? []).map(({ type }) => type ?? "") : undefined;
    const { profile, created } = await calling(
      clients.profiles.upsertProfile(upsert, callOptions(callOf(request))),
    ).catch((error: DaybookError) => {
      throw types ? toGuideUpsertError(error, types) : error;
    });
    if (!profile) throw new Error("the profile was not returned");
    void reply.code(created ? 201 : 200);
    void reply.headers({ etag: profileEtag(profile), "idempotency-replayed": "false" });
    if (created) void reply.header("location", `/v1/profiles/${profile.id}`);
    return sendData(request, reply, profileJson(profile, { expand: false, showValues: false }));
  });

  app.get<{ Params: { id: string } }>(
    "/profiles/:id",
    { config: { scope: "profiles:read" } },
    async (request, reply) => {
      const { expands } = readQuery(request.query, { expands: ["identifiers"] });
      const caller = callerOf(request);
      decodeId("prof", request.params.id, "id");
      const { profiles } = await calling(
        clients.profiles.getProfiles(
          { propertyId: caller.propertyId, profileIds: [request.params.id] },
          callOptions(callOf(request)),
        ),
      );
      const [profile] = profiles;
      if (!profile) throw new DaybookError("resource_not_found", "There is no such profile.", { param: "id" });
      void reply.header("etag", profileEtag(profile));
      const identifiers = { expand: expands.has("identifiers"), showValues: maySeeValues(caller) };
      return sendData(request, reply, profileJson(profile, identifiers));
    },
  );
}

function maySeeValues(caller: Caller): boolean {
  return caller.scopes.has("identifiers:read_value");
}

/** Names the fields at fault as the guide's body does: `identifiers.email` for `identifiers.0.value`. */
function toGuideUpsertError(error: DaybookError, types: readonly string[]): DaybookError {
  return error.withParams((param) =>
    param.replace(/^identifiers\.(\d+).*$/, (_whole, index: string) => `identifiers.${types[Number(index)]}`),
  );
}
