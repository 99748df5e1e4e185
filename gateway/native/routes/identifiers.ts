import type {
  Identifier as IdentifierMessage,
  Profile as ProfileMessage,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { operationOf } from "../../plugins/idempotency.ts";
import { identifierObject, profileEtag, toIdentifierInput } from "../convert/profiles.ts";
import { answerData } from "../envelope.ts";
import type { NativeExchange } from "../exchange.ts";
import { exampleIdentifier, exampleIds } from "../examples.ts";
import { operation, route } from "../operation.ts";
import { openPage } from "../paging.ts";
import { findProfile, resolvedMeta, toPathParam } from "../profile.ts";
import { DeletedIdentifier, Identifier } from "../resources.ts";
import { IdentifierInput, IdentifierUpdate } from "../schemas.ts";
import { createReader } from "../../validation.ts";

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
  body: createReader(IdentifierInput),
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
  body: createReader(IdentifierUpdate),
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
    "The last one stays: 422 `last_identifier`. No other identifier becomes primary in the place of one that is " +
    "removed: mark another, or use the oldest.",
  precondition: true,
  data: DeletedIdentifier,
  success: { 200: "It is gone" },
  errors: [...pathErrors, "profile_redacted", "last_identifier"],
  examples: { data: { id: exampleIds.identifier, object: "identifier", deleted: true } },
});

const path = "/profiles/:id/identifiers";

export const identifierRoutes = [
  route("GET", path, list, async (exchange) => {
    const { query, reply, showsValues } = exchange;
    const { profile, meta } = await findProfile(exchange);
    const page = openPage(exchange, `identifiers of ${profile.id}`);
    const { after } = page;
    // A profile has so few identifiers that it always holds all of them.
    const remaining = profile.identifiers.filter(({ id }) => after === undefined || id > after);
    const shown = remaining.slice(0, query.limit);
    void reply.header("etag", profileEtag(profile));
    const data = shown.map((identifier) => identifierObject(identifier, showsValues));
    const pageMeta = page.meta(remaining.length > shown.length, shown.at(-1)?.id);
    return answerData(exchange, JSON.stringify(data), { ...meta, ...pageMeta });
  }),

  route("GET", `${path}/:identifier_id`, read, async (exchange) => {
    const { profile, meta } = await findProfile(exchange);
    void exchange.reply.header("etag", profileEtag(profile));
    const identifier = pick(profile, exchange.ids.identifier_id);
    return answerData(exchange, JSON.stringify(identifierObject(identifier, exchange.showsValues)), meta);
  }),

  route("POST", path, add, async (exchange) => {
    const { request, reply, ids, precondition, propertyId, services, body } = exchange;
    const identifier = toIdentifierInput(body);
    const { profile, identifierId, created, resolvedFrom } = await services.profiles.addIdentifier(
      { propertyId, profileId: ids.id, identifier, source, precondition, ...operationOf(request) },
      toPathParam,
    );
    const added = pick(profile, identifierId);
    void reply.code(created ? 201 : 200);
    if (created) void reply.header("location", `/v1/profiles/${added.profileId}/identifiers/${added.id}`);
    void reply.header("etag", etagOf(profile));
    return answerIdentifier(exchange, added, resolvedFrom);
  }),

  route("PATCH", `${path}/:identifier_id`, promote, async (exchange) => {
    const { reply, ids, services } = exchange;
    const { profile, resolvedFrom } = await services.profiles.promoteIdentifier(toChange(exchange), toPathParam);
    void reply.header("etag", etagOf(profile));
    return answerIdentifier(exchange, pick(profile, ids.identifier_id), resolvedFrom);
  }),

  route("DELETE", `${path}/:identifier_id`, remove, async (exchange) => {
    const { reply, ids, services } = exchange;
    const { profile, resolvedFrom } = await services.profiles.removeIdentifier(toChange(exchange), toPathParam);
    void reply.header("etag", etagOf(profile));
    const deleted = { id: ids.identifier_id, object: "identifier", deleted: true };
    return answerData(exchange, JSON.stringify(deleted), resolvedMeta(resolvedFrom));
  }),
];

/** The request fields of a change to the identifier in the path. */
function toChange({ request, ids, precondition, propertyId }: NativeExchange) {
  return { propertyId, profileId: ids.id, identifierId: ids.identifier_id, precondition, ...operationOf(request) };
}

function answerIdentifier(
  exchange: NativeExchange,
  identifier: IdentifierMessage,
  resolvedFrom: string | undefined,
): string {
  const { showsValues } = exchange;
  const [own, other] = [showsValues, !showsValues].map((shown) => JSON.stringify(identifierObject(identifier, shown)));
  return answerData(exchange, own ?? "", resolvedMeta(resolvedFrom), other);
}

/** @throws DaybookError `resource_not_found` with param `identifier_id` */
function pick(profile: ProfileMessage | undefined, identifierId: string): IdentifierMessage {
  const identifier = profile?.identifiers.find(({ id }) => id === identifierId);
  if (identifier) return identifier;
  throw new DaybookError("resource_not_found", "The profile has no such identifier.", { param: "identifier_id" });
}

function etagOf(profile: ProfileMessage | undefined): string {
  if (!profile) throw new Error("the profile was not returned");
  return profileEtag(profile);
}
