/** The types of webhook messages: who may have them, and what their data is. The only list of them. */
import * as data from "./webhook-data.ts";

/** A type of messages. */
export interface WebhookType {
  name: WebhookTypeName;
  /** What the maker of an endpoint must be allowed to do; null for types that every endpoint may have. */
  scope: string | null;
  description: string;
  /** The JSON Schema of `data`. */
  schema: object;
  /** An example of `data`. */
  example: object;
}

/** The names of types. Open: more may come. */
export const webhookTypeNames = [
  "event.recorded",
  "event.linked",
  "profile.created",
  "profile.merged",
  "profile.redacted",
  "metric.created",
  "privacy_request.completed",
  "privacy_request.failed",
  "rejected_writes.reported",
  "webhook_endpoint.disabled",
  "app.uninstalled",
  "webhook.test",
] as const;

export type WebhookTypeName = (typeof webhookTypeNames)[number];

/** Stands alone for all types. */
export const allTypes = "*";

type Rest = Omit<WebhookType, "name">;
const type = (scope: string | null, description: string, schema: object, example: object): Rest => ({
  scope,
  description,
  schema,
  example,
});

const typeOfName: Record<WebhookTypeName, Rest> = {
  "event.recorded": type(
    "events:read",
    "An event was recorded, other than as history.",
    data.eventSchema,
    data.eventExample,
  ),
  "event.linked": type(
    "events:read",
    "An event that was anonymous gained its profile.",
    data.linkedSchema,
    data.linkedExample,
  ),
  "profile.created": type("profiles:read", "A profile was made.", data.profileSchema, {
    ...data.profileExample,
    version: 1,
  }),
  "profile.merged": type(
    "profiles:read",
    "Another profile was merged into a profile.",
    data.mergedSchema,
    data.mergedExample,
  ),
  "profile.redacted": type(
    "profiles:read",
    "A profile was redacted, for good.",
    data.profileSchema,
    data.profileExample,
  ),
  "metric.created": type(
    "metrics:read",
    "A type of event was seen for the first time.",
    data.metricSchema,
    data.metricExample,
  ),
  "privacy_request.completed": type(
    "privacy:read",
    "A privacy request is done.",
    data.privacySchema,
    data.privacyExample,
  ),
  "privacy_request.failed": type("privacy:read", "A privacy request has failed.", data.privacySchema, {
    ...data.privacyExample,
    status: "failed",
    counts: null,
    not_reached: [],
    failure: { code: "internal_error", message: "Something went wrong on our side. Try again." },
  }),
  "rejected_writes.reported": type(
    "accounts:read",
    "Writes of a key were refused; at most once per key and 10 minutes.",
    data.rejectedSchema,
    data.rejectedExample,
  ),
  "webhook_endpoint.disabled": type(
    "accounts:read",
    "Another endpoint of the property was disabled.",
    data.endpointSchema,
    data.endpointExample,
  ),
  "app.uninstalled": type(
    null,
    "The app was uninstalled. Only for the endpoint of that app, and its last message.",
    data.uninstalledSchema,
    data.uninstalledExample,
  ),
  "webhook.test": type(null, "Somebody tests the endpoint.", data.testSchema, data.testExample),
};

/** All types. */
export const webhookTypes: readonly WebhookType[] = webhookTypeNames.map((name) => ({ name, ...typeOfName[name] }));

/** Whether a text names a type. */
export function isWebhookType(name: string): name is WebhookTypeName {
  return Object.hasOwn(typeOfName, name);
}

/** The scopes that types need, each once and in their order; `*` needs all. Unknown names need none. */
export function scopesOfTypes(types: readonly string[]): string[] {
  const named = types.includes(allTypes) ? webhookTypeNames : types.filter((name) => isWebhookType(name));
  return [...new Set(named.flatMap((name) => typeOfName[name].scope ?? []))];
}

/** The types that scopes allow. With all scopes of types, `*` is one of them. */
export function typesAllowedBy(scopes: Iterable<string>): string[] {
  const held = new Set(scopes);
  const allowed = webhookTypeNames.filter((name) => {
    const { scope } = typeOfName[name];
    return scope === null || held.has(scope);
  });
  return allowed.length === webhookTypeNames.length ? [...allowed, allTypes] : allowed;
}
