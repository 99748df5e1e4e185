import { ProfileSort } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { isJsonObject } from "#shared/json/json.ts";
import { operationOf } from "../../plugins/idempotency.ts";
import {
  fromGuideUpsert,
  profileEtag,
  profileJson,
  toCreateRequest,
  toStatus,
  toUpdateRequest,
  toUpsertRequest,
  type ShownIdentifiers,
} from "../convert/profiles.ts";
import { answerData } from "../envelope.ts";
import type { NativeExchange } from "../exchange.ts";
import { exampleIdentifier, exampleIds, exampleProfile } from "../examples.ts";
import { identifierFilter } from "../filters.ts";
import { operation, route } from "../operation.ts";
import { openPage, readPlace, writePlace } from "../paging.ts";
import { answerWritten, findProfile, toPathParam } from "../profile.ts";
import { impossibleChange } from "../../refusals.ts";
import { Profile } from "../resources.ts";
import { GuideProfileUpsert, ProfileCreate, ProfileMerge, ProfileUpdate, ProfileUpsert } from "../schemas.ts";
import { createEitherReader, createReader } from "../../validation.ts";

const expands = { identifiers: "The identifiers; their values need the scope identifiers:read_value" };
const identifierFilters = ["email", "phone", "external_id"] as const;
const ada = { type: "email", value: "ada@example.com" };
const pathErrors = ["invalid_id", "resource_not_found"] as const;

const list = operation("profiles:read", {
  id: "listProfiles",
  tag: "Profiles",
  summary: "List profiles",
  description:
    "Active profiles unless filter[status] asks for others. Filters by identifiers take values as a write does.",
  query: {
    filters: {
      email: identifierFilter("email", "The profile with this email, normalised as on write"),
      phone: identifierFilter("phone", "The profile with this phone; a plus in a query is written %2B"),
      external_id: identifierFilter("external_id", "The profile with this external_id"),
      status: { description: "active unless another is named", oneOf: ["active", "merged", "redacted"] },
      tag: "Profiles with this tag",
    },
    ranges: { created_at: "When the profile was made", updated_at: "When it last changed" },
    sorts: ["created_at", "updated_at"],
    sortDefault: "-created_at",
    expands,
    paged: true,
  },
  data: Profile,
  list: true,
  success: { 200: "A page of profiles" },
  examples: {
    query: {
      "filter[email]": "ada@example.com",
      "filter[phone]": "+351910000123",
      "filter[external_id]": "customer-7",
      "filter[status]": "active",
      "filter[tag]": "vip",
      "filter[updated_at][gte]": "2026-11-01T00:00:00Z",
      sort: "updated_at",
      expand: "identifiers",
      "page[limit]": "10",
    },
    data: [{ ...exampleProfile, identifiers: [exampleIdentifier] }],
  },
});

const create = operation("profiles:write", {
  id: "createProfile",
  tag: "Profiles",
  summary: "Create a profile",
  description:
    "Every identifier must be new to the property: one that a profile has is refused with `identity_conflict`. To " +
    "write to that profile instead, upsert it.",
  body: createReader(ProfileCreate),
  precondition: "refused",
  data: Profile,
  success: { 201: "The profile made" },
  etag: true,
  errors: ["identity_conflict", "parameter_conflict", "too_many_items"],
  examples: {
    bodies: {
      "A customer": {
        identifiers: [
          { type: "email", value: "grace@example.com" },
          { type: "external_id", value: "customer-8" },
        ],
        attributes: { plan: "gold", interests: ["tea", "books"] },
        location: { city: "Lisbon", country: "PT", timezone: "Europe/Lisbon" },
      },
    },
    data: exampleProfile,
  },
});

const upsert = operation("profiles:write", {
  id: "upsertProfile",
  tag: "Profiles",
  summary: "Create or update the profile that the identifiers belong to",
  description:
    "Identifiers that nobody has make a profile; those that one profile has update it, and it gains the others. " +
    "Identifiers of several profiles are a conflict that names the holders. A write that changes nothing leaves the " +
    "version as it is.",
  body: createEitherReader(ProfileUpsert, GuideProfileUpsert, isGuideUpsert),
  precondition: true,
  data: Profile,
  success: { 200: "The profile updated", 201: "The profile made" },
  etag: true,
  errors: ["identity_conflict", "invalid_path", "not_an_array", "parameter_conflict", "too_many_items"],
  examples: {
    bodies: {
      "By email, with attributes": { identifiers: [ada], attributes: { plan: "gold" } },
      "By email, with operations": {
        identifiers: [ada],
        attribute_operations: [
          { op: "append_unique", path: "interests", value: "tea" },
          { op: "set", path: ["preferences", "language"], value: "pt" },
        ],
      },
      "The form of the getting-started guide": { identifiers: { email: ada.value }, attributes: { plan: "gold" } },
    },
    data: exampleProfile,
  },
});

const read = operation("profiles:read", {
  id: "getProfile",
  tag: "Profiles",
  summary: "Read a profile",
  description:
    "The id of a merged profile reads its survivor, and `meta.resolved_from` has the id that was asked for. The ETag " +
    "is the version of the profile that is answered.",
  query: { expands, resolves: true },
  data: Profile,
  success: { 200: "The profile; the survivor, when the one named is merged" },
  etag: true,
  errors: pathErrors,
  examples: { query: { expand: "identifiers", resolve: "false" }, data: exampleProfile },
});

const update = operation("profiles:write", {
  id: "updateProfile",
  tag: "Profiles",
  summary: "Change attributes and location of a profile",
  description:
    "Exactly one of `attributes` and `attribute_operations` is required, also where only `location` is to change. " +
    "Each key of `attributes` replaces that key; operations apply in order, all or none. The id of a merged profile " +
    "writes its survivor, whose ETag If-Match is held against.",
  body: createReader(ProfileUpdate),
  precondition: true,
  data: Profile,
  success: { 200: "The profile after the write" },
  etag: true,
  errors: [...pathErrors, "profile_redacted", "invalid_path", "not_an_array", "parameter_conflict", "too_many_items"],
  examples: {
    bodies: {
      "Attributes and location": { attributes: { plan: "silver" }, location: { city: "Porto" } },
      "Operations on attributes": {
        attribute_operations: [
          { op: "append_unique", path: "interests", value: "coffee" },
          { op: "delete", path: "plan" },
        ],
      },
    },
    data: exampleProfile,
  },
});

const merge = operation("profiles:merge", {
  id: "mergeProfiles",
  tag: "Profiles",
  summary: "Merge another profile into this one, for good",
  description:
    "The values of the profile in the path win; attributes, tags, location fields and identifiers that it lacks come " +
    "from the source, whose events read as the survivor's at once. Of two primary identifiers of a type the " +
    "survivor's stays primary. Refused when the attributes of both take more than 256 KB together, and with 422 " +
    "`too_many_items` when both have more than 1,000 identifiers together.",
  body: createReader(ProfileMerge),
  precondition: true,
  data: Profile,
  success: { 200: "The survivor" },
  etag: true,
  errors: [...pathErrors, "invalid_state_transition"],
  impossible: ["too_many_items"],
  examples: {
    bodies: { "The profile that goes": { source_profile_id: exampleIds.otherProfile } },
    data: exampleProfile,
  },
});

export const profileRoutes = [
  route("GET", "/profiles", list, async (exchange) => {
    const { query, propertyId, services } = exchange;
    const { filters, ranges, sort, limit } = query;
    const page = openPage(exchange, "profiles");
    const after = page.after === undefined ? undefined : readPlace(page.after);
    const wanted = identifierFilters.filter((type) => filters.has(type));
    const found = await services.profiles.listProfiles(
      {
        propertyId,
        identifiers: wanted.map((type) => ({ type, value: filters.get(type) ?? "" })),
        status: toStatus(filters.get("status")),
        tag: filters.get("tag"),
        createdAt: ranges.get("created_at"),
        updatedAt: ranges.get("updated_at"),
        sort: sort.field === "updated_at" ? ProfileSort.UPDATED_AT : ProfileSort.CREATED_AT,
        ascending: sort.ascending,
        limit,
        after: after && { time: after.time, profileId: after.id },
      },
      (param) => param.replace(/^identifiers\.(\d+).*$/, (_all, index: string) => `filter[${wanted[Number(index)]}]`),
    );
    const last = found.profiles.at(-1);
    const time = sort.field === "updated_at" ? last?.updatedAt : last?.createdAt;
    const meta = page.meta(found.hasMore, last && writePlace(time, last.id));
    const shown = shownIdentifiers(exchange);
    return answerData(exchange, `[${found.profiles.map((profile) => profileJson(profile, shown)).join(",")}]`, meta);
  }),

  route("POST", "/profiles", create, async (exchange) => {
    const { request, propertyId, services, body } = exchange;
    const wanted = { ...toCreateRequest(propertyId, body), ...operationOf(request) };
    const { profile } = await services.profiles.createProfile(wanted);
    return answerWritten(exchange, profile, { created: true });
  }),

  route("POST", "/profiles/upsert", upsert, async (exchange) => {
    const { request, precondition, propertyId, body } = exchange;
    const wanted = body.guide ? fromGuideUpsert(propertyId, body.guide) : toUpsertRequest(propertyId, body.main);
    const types = wanted.identifiers.map(({ type }) => type);
    const { profile, created } = await exchange
      .upsertProfile({ ...wanted, precondition, ...operationOf(request) })
      .catch((error: unknown) => {
        throw body.guide && error instanceof DaybookError
          ? error.withParams((param) => toGuideParam(param, types))
          : error;
      });
    return answerWritten(exchange, profile, { created });
  }),

  route("GET", "/profiles/:id", read, async (exchange) => {
    const { profile, meta } = await findProfile(exchange);
    void exchange.reply.header("etag", profileEtag(profile));
    return answerData(exchange, profileJson(profile, shownIdentifiers(exchange)), meta);
  }),

  route("PATCH", "/profiles/:id", update, async (exchange) => {
    const { request, ids, precondition, propertyId, services, body } = exchange;
    const wanted = { ...toUpdateRequest(propertyId, ids.id, body), precondition, ...operationOf(request) };
    const { profile, resolvedFrom } = await services.profiles.updateProfile(wanted, toPathParam);
    return answerWritten(exchange, profile, { resolvedFrom });
  }),

  route("POST", "/profiles/:id/merge", merge, async (exchange) => {
    const { request, ids, precondition, propertyId, services, body } = exchange;
    const { source_profile_id: sourceProfileId } = body;
    const wanted = { propertyId, profileId: ids.id, sourceProfileId, precondition, ...operationOf(request) };
    const { profile } = await services.profiles.mergeProfiles(wanted, toPathParam).catch((error: unknown) => {
      throw error instanceof DaybookError && error.code === "too_many_items" ? impossibleChange(error) : error;
    });
    return answerWritten(exchange, profile);
  }),
];

function shownIdentifiers({ query, showsValues }: NativeExchange): ShownIdentifiers {
  return { expand: query.expands.has("identifiers"), showValues: showsValues };
}

function isGuideUpsert(body: unknown): boolean {
  return isJsonObject(body) && isJsonObject(body.identifiers);
}

/** Maps params to the guide's body: `identifiers.0.value` to `identifiers.email`. */
function toGuideParam(param: string, types: readonly string[]): string {
  return param.replace(/^identifiers\.(\d+).*$/, (_all, index: string) => `identifiers.${types[Number(index)]}`);
}
