import { ProfileSort, type Profile as ProfileMessage } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { fromTimestamp, toTimestamp } from "#shared/values/time.ts";
import {
  identifierProblem,
  identifierTypes,
  restorePlus,
  toPhone,
  type IdentifierField,
} from "../convert/identifiers.ts";
import { toId } from "../convert/ids.ts";
import { firstOf } from "../convert/profile-requests.ts";
import { InstantRange } from "../convert/ranges.ts";
import { readTime } from "../convert/times.ts";
import type { Condition } from "../filter.ts";
import { findProfile, toProfileResources } from "../profiles.ts";
import type { Query } from "../query.ts";
import { answerDocument, nothingIncluded } from "../reply.ts";
import { Profile } from "../resources.ts";
import { operation, route } from "../operation.ts";

const additional = ["subscriptions", "predictive_analytics"];
const fields = ["profile", "list", "segment", "push-token", "conversation"];
const isOf = ["any", "equals"];
const isBetween = ["greater-than", "less-than", "greater-or-equal", "less-or-equal"];

// Daybook stores none of these, so no profile matches a condition on one.
const suppressions = [
  "subscriptions.email.marketing.list_suppressions.reason",
  "subscriptions.email.marketing.list_suppressions.timestamp",
  "subscriptions.email.marketing.list_suppressions.list_id",
  "subscriptions.email.marketing.suppression.reason",
  "subscriptions.email.marketing.suppression.timestamp",
];

const list = operation("profiles:read", {
  id: "compatListProfiles",
  summary: "List profiles",
  description:
    "Identifiers are shown to keys with the scope `identifiers:read_value`. In the order of `email` profiles without " +
    "one come last, or first with `-email`.",
  query: {
    filters: {
      id: isOf,
      email: isOf,
      phone_number: isOf,
      external_id: isOf,
      _kx: ["equals"],
      created: isBetween,
      updated: isBetween,
      ...Object.fromEntries(suppressions.map((field) => [field, ["equals", ...isBetween]])),
    },
    sorts: ["created", "updated", "email", "id"],
    sortDefault: "-created",
    // A caller who can position own profiles in this order could find out any email.
    sortScopes: { email: "identifiers:read_value" },
    page: { sizeDefault: 20, sizeMax: 100 },
    includes: ["conversations", "push-tokens", "lists", "segments"],
    fields,
    additional,
  },
  data: Profile,
  list: true,
  success: { 200: "A page of profiles" },
});

const read = operation("profiles:read", {
  id: "compatGetProfile",
  summary: "Read a profile",
  description: "A merged one is read as its survivor.",
  query: { includes: ["conversations", "lists", "push-tokens", "segments"], fields, additional },
  data: Profile,
  success: { 200: "The profile" },
});

const sorts: Readonly<Record<string, ProfileSort>> = {
  created: ProfileSort.CREATED_AT,
  updated: ProfileSort.UPDATED_AT,
  email: ProfileSort.EMAIL,
  id: ProfileSort.ID,
};

export const profileRoutes = [
  route("GET", "/profiles", list, async (exchange) => {
    const { reply, propertyId, services, query, links } = exchange;
    const wanted = readConditions(query.conditions);
    const found = wanted
      ? await services.profiles.listProfiles({ propertyId, ...wanted, ...readOrder(query) })
      : { profiles: [], hasMore: false };
    const profiles = query.backwards ? found.profiles.toReversed() : found.profiles;
    const place = (profile: ProfileMessage | undefined): string | undefined =>
      profile && JSON.stringify(placeOf(query.sort.field, profile));
    const { next, prev } = query.pagesAround(place(profiles[0]), place(profiles.at(-1)), found.hasMore);
    const data = await toProfileResources(exchange, profiles);
    return answerDocument(reply, 200, { data, ...nothingIncluded(query), links: links.page(next, prev) });
  }),

  route("GET", "/profiles/:id", read, async (exchange) => {
    const { reply, query, links, id } = exchange;
    const [data] = await toProfileResources(exchange, [await findProfile(exchange, id, "id")]);
    if (!data) throw new Error("a profile is a resource");
    return answerDocument(reply, 200, { data, ...nothingIncluded(query), links: links.self() });
  }),
];

/** The order, limit and start of the list request. */
function readOrder({ after, sort, backwards, size }: Query) {
  const [micros, profileId, email] = after === undefined ? [] : (JSON.parse(after) as ReturnType<typeof placeOf>);
  return {
    sort: sorts[sort.field] ?? ProfileSort.CREATED_AT,
    ascending: sort.ascending !== backwards,
    limit: size,
    after:
      profileId === undefined ? undefined : { time: toTimestamp(micros ?? 0), profileId, email: email ?? undefined },
  };
}

/** The place of a profile in a list, for cursors. */
function placeOf(field: string, profile: ProfileMessage): [number, string, string | null] {
  const time = field === "updated" ? profile.updatedAt : profile.createdAt;
  return [
    time ? fromTimestamp(time) : 0,
    profile.id,
    field === "email" ? (firstOf(profile, "email")?.value ?? null) : null,
  ];
}

interface Wanted {
  identifiers?: { type: string; value: string }[];
  anyIdentifiers?: { type: string; value: string }[];
  profileIds?: string[];
  createdAt?: object;
  updatedAt?: object;
}

/** Converts filters to a request; undefined if nothing can match. */
function readConditions(conditions: readonly Condition[]): Wanted | undefined {
  const identifiers: { type: string; value: string }[] = [];
  const ranges = { created: new InstantRange(), updated: new InstantRange() };
  let anyIdentifiers: { type: string; value: string }[] | undefined;
  let profileIds: Set<string> | undefined;
  for (const { operator, field, values } of conditions) {
    if (field === "id") {
      const ids = new Set(values.flatMap((value) => toId("prof", value) ?? []));
      profileIds = profileIds ? profileIds.intersection(ids) : ids;
      if (profileIds.size === 0) return undefined;
    } else if (suppressions.includes(field)) return undefined;
    else if (field === "created" || field === "updated") {
      const micros = readTime(values[0] ?? "");
      if (micros === undefined) throw refuse(`${field} is compared with an ISO 8601 date-time.`);
      ranges[field].narrow(operator, micros);
    } else {
      const some = values.flatMap((value) => toIdentifier(field as IdentifierField, value) ?? []);
      if (some.length === 0) return undefined;
      if (operator === "equals") identifiers.push(...some);
      else if (anyIdentifiers)
        throw refuse("Only one of email, phone_number and external_id can be asked for with any.");
      else anyIdentifiers = some;
    }
  }
  return {
    ...(identifiers.length > 0 ? { identifiers } : {}),
    ...(anyIdentifiers ? { anyIdentifiers } : {}),
    ...(profileIds ? { profileIds: [...profileIds] } : {}),
    ...(ranges.created.isOpen ? {} : { createdAt: ranges.created.toMessage() }),
    ...(ranges.updated.isOpen ? {} : { updatedAt: ranges.updated.toMessage() }),
  };
}

/** The identifier to search; undefined if no profile can have it. */
function toIdentifier(field: IdentifierField, text: string): { type: string; value: string } | undefined {
  const restored = restorePlus(field, text);
  const value = field === "phone_number" ? toPhone(restored) : restored;
  if (value === undefined || (field !== "phone_number" && identifierProblem(field, value) !== undefined))
    return undefined;
  return { type: identifierTypes[field], value };
}

function refuse(message: string): DaybookError {
  return new DaybookError("unsupported_filter", message, { param: "filter" });
}
