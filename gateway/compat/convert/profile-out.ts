/** Maps profiles to resources. */
import type { Profile } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { parseJson, type JsonObject } from "#shared/json/json.ts";
import { locationFields } from "#shared/values/location.ts";
import { isHiddenAttribute } from "../../hidden-attributes.ts";
import type { Resource } from "../reply.ts";
import { attributeOf, isFieldAttribute, plainFields, plainLocationFields } from "./fields.ts";
import { noSubscriptions } from "./subscriptions.ts";
import { toDateTimeOrNull } from "./times.ts";
import { firstOf } from "./profile-requests.ts";

/** Which parts of a profile are shown. */
export interface Shown {
  /** Whether the caller may see identifiers. */
  values: boolean;
  /** Values of `additional-fields`. Daybook has no data for any of them. */
  additional: ReadonlySet<string>;
}

export function profileResource(
  profile: Profile,
  lastEventAt: Timestamp | undefined,
  { values, additional }: Shown,
  links: { self: string },
): Resource {
  const attributes = parseJson(profile.attributesJson) as JsonObject;
  const fieldOf = (field: string): unknown => {
    const name = attributeOf(field);
    // Own keys only, because a caller's key may be `__proto__`.
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    return isFieldAttribute(name, value) ? value : null;
  };
  const valueOf = (type: string): string | null => (values ? (firstOf(profile, type)?.value ?? null) : null);
  const { location } = profile;
  return {
    type: "profile",
    id: profile.id,
    attributes: {
      email: valueOf("email"),
      phone_number: valueOf("phone") ?? (values ? fieldOf("phone_number") : null),
      external_id: valueOf("external_id"),
      anonymous_id: valueOf("anonymous_id"),
      ...Object.fromEntries(plainFields.map((field) => [field, fieldOf(field)])),
      created: toDateTimeOrNull(profile.createdAt),
      updated: toDateTimeOrNull(profile.updatedAt),
      last_event_date: toDateTimeOrNull(lastEventAt),
      location: {
        ...Object.fromEntries(plainLocationFields.map((field) => [field, fieldOf(field)])),
        ...Object.fromEntries(locationFields.map((field) => [field, location?.[field] ?? fieldOf(field)])),
      },
      properties: Object.fromEntries(
        Object.entries(attributes).filter(
          ([name, value]) => !isFieldAttribute(name, value) && (values || !isHiddenAttribute(name)),
        ),
      ),
      ...(additional.has("subscriptions") ? { subscriptions: noSubscriptions } : {}),
      ...(additional.has("predictive_analytics") ? { predictive_analytics: null } : {}),
    },
    relationships: { lists: { data: [] }, segments: { data: [] } },
    links,
  };
}
