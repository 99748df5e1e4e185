/** Schemas of answers. They document the surface, and tests validate every answer against them. */
import Type from "typebox";

const closed = { additionalProperties: false } as const;
const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const text = nullable(Type.String());
const time = nullable(Type.String({ format: "date-time" }));
const object = Type.Object({}, { additionalProperties: true });
/** Optional, because sparse fields omit attributes. */
const attributes = <T extends Type.TProperties>(fields: T) => Type.Partial(Type.Object(fields, closed));
const many = <T extends string>(type: T) =>
  Type.Object({ data: Type.Array(Type.Object({ type: Type.Literal(type), id: Type.String() }, closed)) }, closed);
const one = <T extends string>(type: T) =>
  Type.Object({ data: Type.Object({ type: Type.Literal(type), id: Type.String() }, closed) }, closed);
const links = Type.Object({ self: Type.String() }, closed);

const resource = <T extends string, A extends Type.TSchema, R extends Type.TProperties>(
  type: T,
  has: { attributes: A; relationships?: R },
) =>
  Type.Object(
    {
      type: Type.Literal(type),
      id: Type.String(),
      attributes: has.attributes,
      ...(has.relationships ? { relationships: Type.Object(has.relationships, closed) } : {}),
      links,
    },
    closed,
  );

export const Event = resource("event", {
  attributes: attributes({
    timestamp: Type.Integer({ description: "Seconds since 1970" }),
    event_properties: Type.Object({}, { additionalProperties: true, description: "As they were sent" }),
    datetime: Type.String({ format: "date-time" }),
    uuid: Type.String({ format: "uuid" }),
  }),
  relationships: {
    profile: Type.Optional(one("profile")),
    metric: Type.Optional(one("metric")),
    attributions: many("attribution"),
  },
});

const coordinate = Type.Union([Type.String(), Type.Number(), Type.Null()]);

export const Location = Type.Object(
  {
    address1: text,
    address2: text,
    latitude: coordinate,
    longitude: coordinate,
    ip: text,
    city: text,
    region: text,
    country: text,
    timezone: text,
    zip: text,
  },
  closed,
);

const consent = {
  consent: Type.Literal("NEVER_SUBSCRIBED"),
  consent_timestamp: Type.Null(),
  last_updated: Type.Null(),
};
const method = { method: Type.Null(), method_detail: Type.Null() };

export const Subscriptions = Type.Object(
  {
    email: Type.Partial(
      Type.Object(
        {
          marketing: Type.Partial(
            Type.Object(
              {
                can_receive_email_marketing: Type.Literal(false),
                ...consent,
                ...method,
                custom_method_detail: Type.Null(),
                double_optin: Type.Null(),
                suppression: Type.Array(object, { maxItems: 0 }),
                list_suppressions: Type.Array(object, { maxItems: 0 }),
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
    sms: Type.Partial(
      Type.Object(
        {
          marketing: Type.Partial(
            Type.Object({ can_receive_sms_marketing: Type.Literal(false), ...consent, ...method }, closed),
          ),
        },
        closed,
      ),
    ),
    mobile_push: Type.Partial(
      Type.Object(
        {
          marketing: Type.Partial(
            Type.Object(
              {
                can_receive_push_marketing: Type.Literal(false),
                consent: consent.consent,
                consent_timestamp: Type.Null(),
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
  },
  {
    ...closed,
    description:
      "The same for every profile: Daybook knows nothing of subscriptions, and whoever sends has to ask the person " +
      "elsewhere",
  },
);

export const Profile = resource("profile", {
  attributes: attributes({
    email: text,
    phone_number: text,
    external_id: text,
    anonymous_id: text,
    first_name: text,
    last_name: text,
    organization: text,
    title: text,
    locale: text,
    image: text,
    created: time,
    updated: time,
    last_event_date: time,
    location: Type.Partial(Location),
    properties: object,
    subscriptions: Type.Partial(Subscriptions),
    predictive_analytics: Type.Null(),
  }),
  relationships: { lists: many("list"), segments: many("segment") },
});

export const MergedProfile = Type.Object({ type: Type.Literal("profile"), id: Type.String(), links }, closed);

export const Metric = resource("metric", {
  attributes: attributes({
    name: Type.String({ description: "As it was first written" }),
    created: time,
    updated: time,
    integration: Type.Partial(
      Type.Object(
        {
          object: Type.Literal("integration"),
          id: Type.String(),
          key: Type.String(),
          name: Type.String(),
          category: Type.String(),
        },
        closed,
      ),
    ),
  }),
  relationships: { "flow-triggers": many("flow") },
});

export const MetricAggregate = resource("metric-aggregate", {
  attributes: attributes({
    dates: Type.Array(Type.String({ format: "date-time" })),
    data: Type.Array(
      Type.Object(
        {
          dimensions: Type.Array(Type.String()),
          measurements: Type.Partial(
            Type.Object(
              {
                count: Type.Array(Type.Integer()),
                sum_value: Type.Array(Type.Number()),
                unique: Type.Array(Type.Integer()),
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
  }),
});

export const ImportJob = resource("profile-bulk-import-job", {
  attributes: attributes({
    status: Type.Union(["queued", "processing", "complete"].map((name) => Type.Literal(name))),
    created_at: time,
    total_count: Type.Integer(),
    completed_count: Type.Integer(),
    failed_count: Type.Integer(),
    completed_at: time,
    expires_at: time,
    started_at: time,
  }),
  relationships: { lists: many("list") },
});

export const ImportError = Type.Object(
  {
    type: Type.Literal("import-error"),
    id: Type.String(),
    attributes: attributes({
      code: Type.String(),
      title: Type.String(),
      detail: Type.String(),
      source: Type.Partial(Type.Object({ pointer: Type.String() }, closed)),
      original_payload: Type.Object(
        {},
        { additionalProperties: true, description: "The attributes that were sent, and the id" },
      ),
    }),
  },
  closed,
);

export const EventBulkCreateJobAccepted = Type.Object(
  {
    type: Type.Literal("event-bulk-create-job"),
    id: Type.String(),
    attributes: attributes({ total_count: Type.Integer() }),
  },
  closed,
);

/** Of an answer without a body. */
export const Nothing = Type.Null();

export const Account = resource("account", {
  attributes: attributes({
    test_account: Type.Boolean(),
    contact_information: object,
    industry: Type.Null(),
    timezone: Type.String(),
    preferred_currency: Type.String(),
    public_api_key: Type.String(),
    locale: Type.String(),
  }),
});

export const Reference = Type.Object({ type: Type.String(), id: Type.String() }, closed);

export const Links = Type.Object(
  {
    self: Type.String(),
    related: Type.Optional(Type.String()),
    next: Type.Optional(text),
    prev: Type.Optional(text),
  },
  closed,
);

export const Errors = Type.Object(
  {
    errors: Type.Array(
      Type.Object(
        {
          id: Type.String({ format: "uuid" }),
          status: Type.Integer(),
          code: Type.String(),
          title: Type.String(),
          detail: Type.String(),
          source: Type.Object(
            {
              pointer: Type.Optional(Type.String({ description: "Where in the body" })),
              parameter: Type.Optional(Type.String({ description: "Which parameter" })),
              header: Type.Optional(Type.String({ description: "Which header" })),
            },
            closed,
          ),
          links: object,
          meta: Type.Object(
            { duplicate_profile_id: Type.Optional(Type.String({ description: "Who has the identifier" })) },
            closed,
          ),
        },
        closed,
      ),
      { minItems: 1 },
    ),
  },
  closed,
);
