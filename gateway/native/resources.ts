/** Schemas of native answers. They document the surface, and tests check the answers against them. */
import Type from "typebox";
import { anyObject, closed, id, nullable, oneOf, time } from "./schema-parts.ts";

export const Identifier = Type.Object(
  {
    id: id("idnt"),
    object: Type.Literal("identifier"),
    profile_id: id("prof"),
    type: Type.String({ description: "Open: email, phone, external_id or a type of your own" }),
    value: Type.Optional(Type.String({ description: "Normalised; only with the scope identifiers:read_value" })),
    display_value: Type.String({ description: "Masked" }),
    is_primary: Type.Boolean(),
    verified_at: nullable(time()),
    source: Type.String({ description: "Open; where it came from" }),
    created_at: time(),
    updated_at: time(),
  },
  closed,
);

export const Location = Type.Object(
  {
    city: nullable(Type.String()),
    region: nullable(Type.String()),
    country: nullable(Type.String({ description: "ISO 3166-1 alpha-2, or XK" })),
    timezone: nullable(Type.String({ description: "IANA name" })),
    zip: nullable(Type.String()),
  },
  closed,
);

export const Profile = Type.Object(
  {
    id: id("prof"),
    object: Type.Literal("profile"),
    status: oneOf(["active", "merged", "redacted"], "Closed"),
    identifier_ids: Type.Array(id("idnt"), { description: "Oldest first" }),
    identifiers: Type.Optional(Type.Array(Identifier, { description: "With expand=identifiers" })),
    attributes: anyObject("Custom attributes"),
    tags: Type.Array(Type.String(), { description: "Read-only here; operators write them" }),
    location: nullable(Location),
    merged_into: nullable(id("prof")),
    profile_ref: Type.Optional(
      Type.String({
        pattern: "^p_[0-9A-Za-z]{5}$",
        description: "Compact reference, for properties that have them. It proves nothing",
      }),
    ),
    created_at: time(),
    updated_at: time(),
  },
  closed,
);

export const DeletedIdentifier = Type.Object(
  { id: id("idnt"), object: Type.Literal("identifier"), deleted: Type.Literal(true) },
  closed,
);

const observedSchema = (description: string) =>
  Type.Record(
    Type.String(),
    oneOf(["string", "number", "boolean", "timestamp", "array", "object", "mixed"], "Closed"),
    { description: `${description}, by path; at most 500, of the first 5,000 values of each object` },
  );

export const Metric = Type.Object(
  {
    id: id("mtr"),
    object: Type.Literal("metric"),
    name: Type.String({ description: "Open; the event type" }),
    source: nullable(Type.String({ description: "Open; where its first event came from" })),
    system: Type.Boolean({ description: "Owned by the platform" }),
    description: nullable(Type.String()),
    first_seen_at: nullable(time()),
    schema: observedSchema("What the properties of its events were seen to be"),
  },
  closed,
);

export const Schema = Type.Object(
  {
    object: Type.Literal("schema"),
    resource: oneOf(["event", "profile"], "Open; whose schema it is"),
    type: nullable(Type.String({ description: "Of events: their type" })),
    metric_id: nullable(id("mtr")),
    schema: observedSchema("What the properties of the events, or the attributes of profiles, were seen to be"),
  },
  closed,
);

const decimal = Type.String({ pattern: "^-?\\d+(\\.\\d+)?$" });

export const MetricAggregate = Type.Object(
  {
    object: Type.Literal("metric_aggregate"),
    metric_id: id("mtr"),
    name: Type.String(),
    interval: nullable(oneOf(["hour", "day", "week", "month"], "Closed")),
    timezone: Type.String(),
    from: time(),
    to: time(),
    buckets: Type.Array(time(), {
      description: "When each begins: the first at `from`, the others at civil boundaries",
    }),
    series: Type.Array(
      Type.Object(
        {
          group: anyObject("The value of each field grouped by"),
          count: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }))),
          sum_value: Type.Optional(Type.Array(decimal)),
          unique_profiles: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }))),
        },
        closed,
      ),
      { description: "In order of their groups; a value for each bucket" },
    ),
    recency: Type.Object(
      { first_occurred_at: nullable(time()), last_occurred_at: nullable(time()), last_received_at: nullable(time()) },
      { ...closed, description: "Of all events of the metric" },
    ),
  },
  closed,
);

export const Event = Type.Object(
  {
    id: id("evt"),
    object: Type.Literal("event"),
    type: Type.String({ description: "Open; lowercase dot notation" }),
    profile_id: nullable(id("prof")),
    profile: Type.Optional(nullable(Profile)),
    metric: Type.Optional(nullable(Metric)),
    properties: anyObject("As they were sent"),
    value: nullable(Type.String({ description: "A decimal number, exactly as it was sent" })),
    currency: nullable(Type.String({ pattern: "^[A-Z]{3}$" })),
    occurred_at: time(),
    received_at: time(),
    dedupe_id: nullable(Type.String()),
    source: Type.String({ description: "Open; api, sdk, system or the name of an integration" }),
  },
  closed,
);

const limit = (description: string) => Type.Integer({ minimum: 1, description });
const rateLimits = Type.Object(
  { ordinary: limit("Requests a minute"), backfill: limit("Batches with backfill a minute") },
  { ...closed, description: "Those in force" },
);
const scopes = (description: string) => Type.Array(Type.String(), { description: `Open; ${description}` });
const pinnedRevision = Type.String({ format: "date", description: "The revision that it is pinned to" });
const lastUsedAt = nullable(time("To about a minute, and perhaps not yet of this request"));

export const App = Type.Object(
  {
    id: id("app"),
    object: Type.Literal("app"),
    name: Type.String(),
    description: Type.String({ description: "What it does; may be empty" }),
    homepage_url: nullable(Type.String({ description: "Where to read more" })),
    redirect_uris: Type.Array(Type.String(), { description: "Where it sends the browser of whoever consents" }),
    scopes: scopes("the most that it can ask for"),
    webhook: nullable(
      Type.Object(
        {
          url: Type.String(),
          types: Type.Array(Type.String(), { description: "Types of messages, or `*` alone for all" }),
        },
        { ...closed, description: "Where messages about its installations are sent" },
      ),
    ),
    type: oneOf(["confidential", "public"], "Closed; whether it can keep a secret"),
    status: oneOf(["active", "suspended"], "Closed; a suspended app has no access"),
    created_at: time(),
    updated_at: time(),
  },
  closed,
);

export const Installation = Type.Object(
  {
    id: id("inst"),
    object: Type.Literal("installation"),
    app_id: id("app"),
    property_id: id("prop"),
    livemode: Type.Boolean({ description: "Whether the property is live" }),
    scopes: scopes("what was consented to"),
    status: oneOf(["active", "revoked"], "Closed; one that is revoked gives no access. A new consent makes it active"),
    revoked_reason: nullable(
      oneOf(
        ["uninstalled", "token_reuse", "app", "suspended", "operator"],
        "Closed; who or what ended it: the property's people, a token that was used twice, the app itself, its " +
          "suspension, an operator",
      ),
    ),
    installed_by: id("mem"),
    revision: pinnedRevision,
    created_at: time("When consent was first given"),
    updated_at: time("When consent was last given, or it ended"),
    revoked_at: nullable(time()),
    last_used_at: lastUsedAt,
  },
  closed,
);

export const Account = Type.Object(
  {
    object: Type.Literal("account"),
    property: Type.Object(
      {
        id: id("prop"),
        object: Type.Literal("property"),
        name: Type.String(),
        mode: oneOf(["live", "test"], "Closed; for good"),
        livemode: Type.Boolean({ description: "Whether the mode is live" }),
        default_currency: Type.String({
          description: "Three letters: what values are in that come without a currency over the compatibility surface",
        }),
        timezone: Type.String({ description: "IANA name of the property's time zone" }),
        created_at: time(),
      },
      { ...closed, description: "The store or site that the key or access token opens" },
    ),
    key: Type.Optional(
      Type.Object(
        {
          id: id("key"),
          object: Type.Literal("key"),
          name: Type.String(),
          display_prefix: Type.String({ description: "How its secret begins; the secret itself is shown nowhere" }),
          scopes: scopes("what it may do"),
          revision: pinnedRevision,
          created_at: time(),
          expires_at: nullable(time("When it ends; null means never")),
          last_used_at: lastUsedAt,
          rate_limits: rateLimits,
        },
        { ...closed, description: "The key of this request; absent from an answer to an access token" },
      ),
    ),
    installation: Type.Optional(
      Type.Object(
        {
          ...Installation.properties,
          scopes: scopes("what the access token may do: some or all of the installation's"),
          rate_limits: rateLimits,
        },
        {
          ...closed,
          description: "The installation whose access token this request has; absent from an answer to a key",
        },
      ),
    ),
  },
  closed,
);

export const Revision = Type.Object(
  {
    object: Type.Literal("revision"),
    revision: Type.String({ format: "date" }),
    changes: Type.Array(Type.String(), { description: "What changed with it, in words" }),
  },
  closed,
);
