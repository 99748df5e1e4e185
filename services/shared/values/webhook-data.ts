/** What the data of each type of webhook message looks like: JSON Schemas, and examples. */

const id = (prefix: string, suffix: string): string => `${prefix}_01jz8w3n5k7q9s1t2v4x6y8z${suffix}`;
const profileId = id("prof", "0a");
const otherProfileId = id("prof", "0b");
const eventId = id("evt", "0d");
const metricId = id("mtr", "0e");
const keyId = id("key", "0h");
const installationId = id("inst", "0m");
const endpointId = id("hook", "0q");
const privacyRequestId = id("priv", "0t");
const rejectedWriteId = id("rej", "0s");
const [begin, end] = ["2026-11-02T09:30:00.000000Z", "2026-11-02T09:40:00.000000Z"];

const idOf = (prefix: string) => ({ type: "string", pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$` });
const text = { type: "string" };
const integer = { type: "integer" };
const time = { type: "string", format: "date-time" };
const nullable = (schema: object) => ({ anyOf: [schema, { type: "null" }] });
const listOf = (items: object) => ({ type: "array", items });

/** All fields are always there, except those that are named. More may come. */
function objectOf(properties: Record<string, object>, optional: readonly string[] = []): object {
  return { type: "object", properties, required: Object.keys(properties).filter((name) => !optional.includes(name)) };
}

export const eventSchema = objectOf(
  {
    id: idOf("evt"),
    object: { const: "event" },
    type: text,
    profile_id: nullable(idOf("prof")),
    properties: { type: "object", description: "Left out of a message over 64 KiB" },
    value: nullable(text),
    currency: nullable(text),
    occurred_at: time,
    received_at: time,
    dedupe_id: nullable(text),
    source: text,
  },
  ["properties"],
);

export const eventExample = {
  id: eventId,
  object: "event",
  type: "order.completed",
  profile_id: profileId,
  properties: { order_id: "1001", items: [{ sku: "TEA-250" }] },
  value: "49.90",
  currency: "EUR",
  occurred_at: begin,
  received_at: "2026-11-02T09:30:00.125000Z",
  dedupe_id: "order-1001",
  source: "api",
};

// A profile is read by its id: what is in a message cannot be taken back.
export const profileSchema = objectOf({
  profile_id: idOf("prof"),
  version: { ...nullable(integer), description: "After the change; null where it is not known any more" },
});
export const mergedSchema = objectOf({
  profile_id: idOf("prof"),
  version: nullable(integer),
  source_profile_id: idOf("prof"),
});

export const metricSchema = objectOf(
  {
    id: idOf("mtr"),
    object: { const: "metric" },
    name: text,
    source: nullable(text),
    system: { type: "boolean" },
    description: nullable(text),
    first_seen_at: nullable(time),
    schema: { type: "object", description: "Left out of a message over 64 KiB", additionalProperties: text },
  },
  ["schema"],
);

const countNames = [
  "profiles",
  "identifiers",
  "events",
  "anonymous_events",
  "webhook_messages",
  "rejected_writes",
  "import_errors",
];

export const privacySchema = objectOf(
  {
    id: idOf("priv"),
    object: { const: "privacy_request" },
    type: { enum: ["access", "erasure"] },
    status: { enum: ["pending", "in_progress", "completed", "failed", "cancelled"] },
    subject: objectOf({
      profile_id: nullable(idOf("prof")),
      identifiers: listOf(objectOf({ type: text, display_value: text })),
    }),
    profile_ids: { ...listOf(idOf("prof")), description: "Left out of a message over 64 KiB" },
    regulation: nullable(text),
    reference: nullable(text),
    submitted_at: time,
    due_at: time,
    not_before: nullable(time),
    suppress: { type: "boolean" },
    counts: nullable(objectOf(Object.fromEntries(countNames.map((name) => [name, integer])))),
    not_reached: listOf(text),
    download: nullable(objectOf({ expires_at: time, as_of: time, events: integer })),
    failure: nullable(objectOf({ code: text, message: text })),
    created_by: text,
    created_at: time,
    updated_at: time,
    completed_at: nullable(time),
  },
  ["profile_ids"],
);

export const privacyExample = {
  id: privacyRequestId,
  object: "privacy_request",
  type: "erasure",
  status: "completed",
  subject: { profile_id: null, identifiers: [{ type: "email", display_value: "a•••@example.com" }] },
  profile_ids: [profileId],
  regulation: "gdpr",
  reference: "ticket-1815",
  submitted_at: "2026-11-02T09:30:00.000000Z",
  due_at: "2026-12-02T09:30:00.000000Z",
  not_before: null,
  suppress: false,
  counts: Object.fromEntries(countNames.map((name) => [name, name === "profiles" ? 1 : 0])),
  not_reached: ["Backups of the database."],
  download: null,
  failure: null,
  created_by: keyId,
  created_at: begin,
  updated_at: end,
  completed_at: end,
};

export const rejectedSchema = objectOf({
  from: time,
  to: time,
  count: integer,
  groups: {
    ...listOf(
      objectOf({
        operation: text,
        code: text,
        param: nullable(text),
        event_type: nullable(text),
        key_id: text,
        key_name: text,
        severity: { enum: ["error", "warning"] },
        count: integer,
        first_at: time,
        last_at: time,
        sample_ids: listOf(idOf("rej")),
      }),
    ),
    maxItems: 20,
  },
});

export const rejectedExample = {
  from: begin,
  to: end,
  count: 3,
  groups: [
    {
      operation: "events.create",
      code: "invalid_event_type",
      param: "type",
      event_type: "Order Completed",
      key_id: keyId,
      key_name: "Shop",
      severity: "error",
      count: 3,
      first_at: begin,
      last_at: "2026-11-02T09:39:00.000000Z",
      sample_ids: [rejectedWriteId],
    },
  ],
};

export const endpointSchema = objectOf({
  id: idOf("hook"),
  object: { const: "webhook_endpoint" },
  url: text,
  description: text,
  types: listOf(text),
  filter: nullable(objectOf({ event_types: listOf(text), sources: listOf(text) })),
  headers: listOf(text),
  rate_limit_per_second: nullable(integer),
  status: { enum: ["enabled", "disabled"] },
  disabled_reason: nullable({ enum: ["manual", "failing", "gone", "owner_ended"] }),
  failing_since: nullable(time),
  last_success_at: nullable(time),
  revision: text,
  created_by: text,
  app_id: nullable(idOf("app")),
  previous_secret_until: nullable(time),
  created_at: time,
  updated_at: time,
});

export const endpointExample = {
  id: endpointId,
  object: "webhook_endpoint",
  url: "https://shop.example.com/daybook",
  description: "Orders to the warehouse",
  types: ["event.recorded"],
  filter: { event_types: ["order.*"], sources: [] },
  headers: ["x-shop"],
  rate_limit_per_second: null,
  status: "disabled",
  disabled_reason: "gone",
  failing_since: begin,
  last_success_at: "2026-11-02T09:29:00.000000Z",
  revision: "2026-11-01",
  created_by: keyId,
  app_id: null,
  previous_secret_until: null,
  created_at: "2026-10-01T08:00:00.000000Z",
  updated_at: end,
};

export const metricExample = {
  id: metricId,
  object: "metric",
  name: "order.completed",
  source: "api",
  system: false,
  description: null,
  first_seen_at: begin,
  schema: { order_id: "string" },
};

export const linkedSchema = objectOf({ event_id: idOf("evt"), profile_id: idOf("prof") });
export const linkedExample = { event_id: eventId, profile_id: profileId };
export const profileExample = { profile_id: profileId, version: 2 };
export const mergedExample = { ...profileExample, source_profile_id: otherProfileId };
export const uninstalledSchema = objectOf({ installation_id: idOf("inst") });
export const uninstalledExample = { installation_id: installationId };
export const testSchema = objectOf({ endpoint_id: idOf("hook") });
export const testExample = { endpoint_id: endpointId };
