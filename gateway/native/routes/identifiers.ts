import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type {
  Identifier as IdentifierMessage,
  Profile as ProfileMessage,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, encodeId } from "#shared/values/ids.ts";
import { calling, callOptions } from "#shared/rpc/interceptors.ts";
import { maySeeValues, operationOf } from "../../plugins/idempotency.ts";
import { callerOf, callOf } from "../../plugins/request.ts";
import type { NativeContext } from "../context.ts";
import { identifierObject, profileEtag, toIdentifierInput } from "../convert/profiles.ts";
import { sendData } from "../envelope.ts";
import { exampleIdentifier, exampleIds } from "../examples.ts";
import { operation } from "../operation.ts";
import { openPage } from "../paging.ts";
import { readPrecondition } from "../precondition.ts";
import { findProfile, resolvedMeta, toPathParam } from "../profile.ts";
import { queryOf, readBody } from "../query.ts";
import { DeletedIdentifier, Identifier } from "../resources.ts";
import { IdentifierInput, IdentifierUpdate } from "../schemas.ts";
import { createReader } from "../../validation.ts";

const addBody = createReader(IdentifierInput);
const promoteBody = createReader(IdentifierUpdate);

const pathErrors = ["invalid_id", "resource_not_found"] as const;
const common = { tag: "Identifiers", data: Identifier, etag: true } as const;
const source = "api";

const list = operation("profiles:read", {
  ...common,
  id: "listIdentifiers",
  summary: "List the identifiers of a profile, oldest first",
  query: { paged: true, resolves: true },
  list: true,
  success: { 200: "A page of identifiers" },
  errors: pathErrors,
  examples: { data: [exampleIdentifier] },
});

const read = operation("profiles:read", {
  ...common,
  id: "getIdentifier",
  summary: "Read an identifier of a profile",
  query: { resolves: true },
  success: { 200: "The identifier" },
  errors: pathErrors,
  examples: { data: exampleIdentifier },
});

const add = operation("identifiers:write", {
  ...common,
  id: "addIdentifier",
  summary: "Add an identifier to a profile",
  description: "A profile has at most 1,000. The ETag of all answers here is that of the profile.",
  body: [IdentifierInput],
  precondition: true,
  success: { 200: "The profile had it before", 201: "The identifier added" },
  errors: [...pathErrors, "identity_conflict", "profile_redacted", "too_many_items"],
  examples: {
    bodies: {
      "A phone": { type: "phone", value: "+351910000124" },
      "A primary email": { type: "email", value: "ada.lovelace@example.com", is_primary: true },
    },
    data: exampleIdentifier,
  },
});

const promote = operation("identifiers:write", {
  ...common,
  id: "updateIdentifier",
  summary: "Make an identifier the primary one of its type",
  body: [IdentifierUpdate],
  precondition: true,
  success: { 200: "The identifier after the write" },
  errors: [...pathErrors, "profile_redacted"],
  examples: { bodies: { "The primary one": { is_primary: true } }, data: exampleIdentifier },
});

const remove = operation("identifiers:write", {
  ...common,
  id: "removeIdentifier",
  summary: "Remove an identifier from a profile",
  description:
    "The last one stays: 422 `last_identifier`. No other identifier becomes primary in the place of one that is removed: mark another, or use the oldest.",
  precondition: true,
  data: DeletedIdentifier,
  success: { 200: "It is gone" },
  errors: [...pathErrors, "profile_redacted", "last_identifier"],
  examples: { data: { id: exampleIds.identifier, object: "identifier", deleted: true } },
});

type OfProfile = { Params: { id: string } };
type OfIdentifier = { Params: { id: string; identifier_id: string } };

export function identifierRoutes(app: FastifyInstance, { clients, profiles, cursors }: NativeContext): void {
  const path = "/profiles/:id/identifiers";

  app.get<OfProfile>(path, list, async (request, reply) => {
    const query = queryOf(request);
    const { profile, meta } = await findProfile(profiles, request, request.params.id, query.resolve);
    const page = openPage(request, query, cursors, `identifiers of ${profile.id}`);
    const { after } = page;
    // A profile has so few that they always come whole.
    const rest = profile.identifiers.filter(({ id }) => after === undefined || id > after);
    const shown = rest.slice(0, query.limit);
    const showValues = maySeeValues(request);
    void reply.header("etag", profileEtag(profile));
    return sendData(
      request,
      reply,
      JSON.stringify(shown.map((identifier) => identifierObject(identifier, showValues))),
      { ...meta, ...page.meta(rest.length > shown.length, shown.at(-1)?.id) },
    );
  });

  app.get<OfIdentifier>(`${path}/:identifier_id`, read, async (request, reply) => {
    const query = queryOf(request);
    const { profile, meta } = await findProfile(profiles, request, request.params.id, query.resolve);
    void reply.header("etag", profileEtag(profile));
    const identifier = pick(profile, request.params.identifier_id);
    return sendData(request, reply, JSON.stringify(identifierObject(identifier, maySeeValues(request))), meta);
  });

  app.post<OfProfile>(path, add, async (request, reply) => {
    const { id: profileId } = request.params;
    decodeId("prof", profileId, "id");
    const precondition = readPrecondition(request);
    const identifier = toIdentifierInput(readBody(request, addBody));
    const { propertyId } = callerOf(request);
    const { profile, identifierId, created, resolvedFrom } = await calling(
      clients.profiles.addIdentifier(
        { propertyId, profileId, identifier, source, precondition, ...operationOf(request) },
        callOptions(callOf(request)),
      ),
      toPathParam,
    );
    const added = pick(profile, identifierId);
    void reply.code(created ? 201 : 200);
    if (created) void reply.header("location", `/v1/profiles/${added.profileId}/identifiers/${added.id}`);
    void reply.header("etag", etagOf(profile));
    return sendIdentifier(request, reply, added, resolvedFrom);
  });

  app.patch<OfIdentifier>(`${path}/:identifier_id`, promote, async (request, reply) => {
    const target = readTarget(request.params);
    const precondition = readPrecondition(request);
    readBody(request, promoteBody);
    const { propertyId } = callerOf(request);
    const { profile, resolvedFrom } = await calling(
      clients.profiles.promoteIdentifier(
        { propertyId, ...target, precondition, ...operationOf(request) },
        callOptions(callOf(request)),
      ),
      toPathParam,
    );
    void reply.header("etag", etagOf(profile));
    return sendIdentifier(request, reply, pick(profile, target.identifierId), resolvedFrom);
  });

  app.delete<OfIdentifier>(`${path}/:identifier_id`, remove, async (request, reply) => {
    queryOf(request);
    const target = readTarget(request.params);
    const precondition = readPrecondition(request);
    const { propertyId } = callerOf(request);
    const { profile, resolvedFrom } = await calling(
      clients.profiles.removeIdentifier(
        { propertyId, ...target, precondition, ...operationOf(request) },
        callOptions(callOf(request)),
      ),
      toPathParam,
    );
    void reply.header("etag", etagOf(profile));
    const deleted = { id: target.identifierId, object: "identifier", deleted: true };
    return sendData(request, reply, JSON.stringify(deleted), resolvedMeta(resolvedFrom));
  });
}

/** Answers a write with the identifier as it now is. */
function sendIdentifier(
  request: FastifyRequest,
  reply: FastifyReply,
  identifier: IdentifierMessage,
  resolvedFrom: string | undefined,
): FastifyReply {
  const showValue = maySeeValues(request);
  const [own = "", other] = [showValue, !showValue].map((shown) => JSON.stringify(identifierObject(identifier, shown)));
  return sendData(request, reply, own, resolvedMeta(resolvedFrom), other);
}

/** @throws DaybookError `invalid_id` with param `id` or `identifier_id`. */
function readTarget(params: OfIdentifier["Params"]): { profileId: string; identifierId: string } {
  decodeId("prof", params.id, "id");
  const identifierId = encodeId("idnt", decodeId("idnt", params.identifier_id, "identifier_id"));
  return { profileId: params.id, identifierId };
}

/** @throws DaybookError `invalid_id` or `resource_not_found` with param `identifier_id`. */
function pick(profile: ProfileMessage | undefined, identifierId: string) {
  const id = encodeId("idnt", decodeId("idnt", identifierId, "identifier_id"));
  const identifier = profile?.identifiers.find((own) => own.id === id);
  if (identifier) return identifier;
  throw new DaybookError("resource_not_found", "The profile has no such identifier.", { param: "identifier_id" });
}

function etagOf(profile: ProfileMessage | undefined): string {
  if (!profile) throw new Error("the profile was not returned");
  return profileEtag(profile);
}
