/** Examples of native resources. Tests replace the ids with real ones. */
import { exampleIds } from "../docs/example-ids.ts";

export { exampleIds };

export const exampleIdentifier = {
  id: exampleIds.identifier,
  object: "identifier",
  profile_id: exampleIds.profile,
  type: "email",
  value: "ada@example.com",
  display_value: "a•••@example.com",
  is_primary: true,
  verified_at: null,
  source: "api",
  created_at: "2026-11-02T09:30:00.000000Z",
  updated_at: "2026-11-02T09:30:00.000000Z",
};

export const exampleProfile = {
  id: exampleIds.profile,
  object: "profile",
  status: "active",
  identifier_ids: [exampleIds.identifier],
  attributes: { plan: "gold", interests: ["tea", "books"] },
  tags: ["vip"],
  location: { city: "Lisbon", region: null, country: "PT", timezone: "Europe/Lisbon", zip: "1100-148" },
  merged_into: null,
  created_at: "2026-11-02T09:30:00.000000Z",
  updated_at: "2026-11-02T09:30:00.000000Z",
};

export const exampleMetric = {
  id: exampleIds.metric,
  object: "metric",
  name: "order.completed",
  source: "api",
  system: false,
  description: null,
  first_seen_at: "2026-11-02T09:30:00.000000Z",
  schema: { items: "array", "items[].sku": "string", order_id: "string" },
};

export const exampleEvent = {
  id: exampleIds.event,
  object: "event",
  type: "order.completed",
  profile_id: exampleIds.profile,
  properties: { order_id: "1001", items: [{ sku: "TEA-250" }] },
  value: "49.90",
  currency: "EUR",
  occurred_at: "2026-11-02T09:30:00.000000Z",
  received_at: "2026-11-02T09:30:00.125000Z",
  dedupe_id: "order-1001",
  source: "api",
};

export const exampleApp = {
  id: exampleIds.app,
  object: "app",
  name: "Parcel tracker",
  description: "Tells customers where their parcels are.",
  homepage_url: "https://parcels.example.com",
  redirect_uris: ["https://parcels.example.com/oauth/callback"],
  scopes: ["accounts:read", "events:read", "events:write", "profiles:read"],
  webhook: { url: "https://parcels.example.com/daybook", types: ["event.recorded", "app.uninstalled"] },
  type: "confidential",
  status: "active",
  created_at: "2026-10-01T08:00:00.000000Z",
  updated_at: "2026-10-01T08:00:00.000000Z",
};

export const exampleInstallation = {
  id: exampleIds.installation,
  object: "installation",
  app_id: exampleIds.app,
  property_id: exampleIds.property,
  livemode: true,
  scopes: ["events:read", "events:write"],
  status: "active",
  revoked_reason: null,
  installed_by: exampleIds.member,
  revision: "2026-11-01",
  created_at: "2026-11-01T08:00:00.000000Z",
  updated_at: "2026-11-01T08:00:00.000000Z",
  revoked_at: null,
  last_used_at: "2026-11-02T09:30:00.000000Z",
};

export const exampleAccount = {
  object: "account",
  property: {
    id: exampleIds.property,
    object: "property",
    name: "Tea House",
    mode: "live",
    livemode: true,
    default_currency: "EUR",
    timezone: "Europe/Lisbon",
    created_at: "2026-11-01T08:00:00.000000Z",
  },
  key: {
    id: exampleIds.key,
    object: "key",
    name: "till",
    display_prefix: "sk_live_Zx8c",
    scopes: ["accounts:read", "events:write", "profiles:write"],
    revision: "2026-11-01",
    created_at: "2026-11-01T08:00:00.000000Z",
    expires_at: null,
    last_used_at: "2026-11-02T09:30:00.000000Z",
    rate_limits: { ordinary: 60_000, backfill: 6_000 },
  },
};

/** Two events, of which one was bad. */
export const exampleEventBatch = {
  object: "batch_result",
  results: [
    { status: 201, client_reference: "row 1", data: { id: exampleIds.event, object: "event" }, error: null },
    {
      status: 400,
      client_reference: null,
      data: null,
      error: {
        type: "invalid_request",
        code: "reserved_event_type",
        message: 'A type that starts with "sms" is the platform\'s own.',
        param: "type",
      },
    },
  ],
  counts: { succeeded: 1, failed: 1 },
};

/** Two profiles: one created, one updated. */
export const exampleProfileBatch = {
  object: "batch_result",
  results: [
    { status: 201, client_reference: "row 1", data: { id: exampleIds.profile, object: "profile" }, error: null },
    { status: 200, client_reference: null, data: { id: exampleIds.otherProfile, object: "profile" }, error: null },
  ],
  counts: { succeeded: 2, failed: 0 },
};
