/** The bodies that the native surface takes. What lies beyond their shape, the services check. They also document the surface. */
import Type from "typebox";
import { documented, opaque } from "../validation.ts";

const identifiersMax = 100;
const closed = { additionalProperties: false } as const;
const anyObject = (description: string) => Type.Object({}, { additionalProperties: true, description, [opaque]: true });

/** What an event or a profile is known by. */
const identifierType = Type.String({ description: "email, phone, external_id or a type of your own" });
const identifierValue = Type.String({
  [documented]: { minLength: 1, maxLength: 255 },
  description: "Normalised: trimmed, Unicode NFC; an email in lower case, a phone in E.164",
});

const eventFields = {
  type: Type.String({ description: "Lowercase dot notation, such as order.completed; underscores become dots" }),
  properties: anyObject("At most 256 KB, nesting at most 32"),
  profile_id: Type.Optional(Type.String({ description: "Whose the event is: this or identifier" })),
  identifier: Type.Optional(Type.Object({ type: identifierType, value: identifierValue }, closed)),
  value: Type.Optional(Type.String({ description: "A decimal number, sent with currency" })),
  currency: Type.Optional(Type.String({ description: "Three letters, sent with value" })),
  occurred_at: Type.Optional(Type.String({ description: "ISO 8601 with an offset; absent means now" })),
  dedupe_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
};

const idempotencyKey = Type.String({ [documented]: { pattern: "^[\\x21-\\x7e]{1,255}$" } });

export const EventCreate = Type.Object(eventFields, closed);

/** An event as the getting-started guide writes it. */
export const GuideEventCreate = Type.Object(
  {
    event_type: eventFields.type,
    profile: Type.Object(
      {
        email: Type.Optional(identifierValue),
        phone: Type.Optional(identifierValue),
        external_id: Type.Optional(identifierValue),
      },
      { ...closed, description: "Exactly one of them" },
    ),
    properties: eventFields.properties,
    idempotency_key: Type.Optional(idempotencyKey),
  },
  closed,
);

/** What items of batches have beside what they carry. */
const itemFields = {
  client_reference: Type.Optional(Type.String({ maxLength: 255, description: "Comes back with the result" })),
  idempotency_key: Type.Optional(idempotencyKey),
};

export const EventBatchItem = Type.Object({ ...eventFields, ...itemFields }, closed);

export const eventBatchItemsMax = 1000;

export const EventBatch = Type.Object(
  {
    events: Type.Array(EventBatchItem, { minItems: 1, maxItems: eventBatchItemsMax }),
    backfill: Type.Optional(
      Type.Boolean({ description: "History: counted, but nothing is triggered by it. Charged to a window of its own" }),
    ),
  },
  closed,
);

const nullableText = (maxLength: number, description?: string) =>
  Type.Optional(
    Type.Union(
      [Type.String({ [documented]: { maxLength } }), Type.Null()],
      description === undefined ? {} : { description },
    ),
  );

const Location = Type.Object(
  {
    city: nullableText(255),
    region: nullableText(255),
    country: nullableText(2, "ISO 3166-1 alpha-2"),
    timezone: nullableText(255, "IANA name"),
    zip: nullableText(32),
  },
  { ...closed, description: "Fields sent replace those fields, null empties one" },
);

const attributesDescription = "Each top-level key replaces that key. At most 256 KB together, nesting at most 32";
const attributes = anyObject(attributesDescription);

export const IdentifierInput = Type.Object(
  {
    type: identifierType,
    value: identifierValue,
    is_primary: Type.Optional(Type.Boolean({ description: "The one to use among those of its type" })),
  },
  closed,
);

const identifiers = Type.Array(IdentifierInput, { minItems: 1, maxItems: identifiersMax });

export const ProfileCreate = Type.Object(
  { identifiers, attributes: Type.Optional(attributes), location: Type.Optional(Location) },
  closed,
);

const AttributeOperation = Type.Object(
  {
    op: Type.Union(
      ["set", "delete", "append_unique", "remove"].map((name) => Type.Literal(name)),
      { description: "append_unique and remove treat the array at the path as a set" },
    ),
    path: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 32 })], {
      description: "A top-level key, or the keys of a nested path from the top down; dots are literal",
    }),
    value: Type.Optional(Type.Unknown({ description: "Any JSON; needed for all but delete, which has none" })),
  },
  closed,
);

const attributeOperations = Type.Array(AttributeOperation, {
  minItems: 1,
  maxItems: 100,
  description: "Applied in order, all or none; not together with attributes",
  [opaque]: true,
});

const upsertFields = { ...ProfileCreate.properties, attribute_operations: Type.Optional(attributeOperations) };

export const ProfileUpsert = Type.Object(upsertFields, closed);

/** A profile as the getting-started guide writes it: identifiers by type. */
export const GuideProfileUpsert = Type.Object(
  {
    identifiers: Type.Unsafe<Record<string, string>>(
      Type.Object({}, { additionalProperties: identifierValue, maxProperties: identifiersMax }),
    ),
    attributes: Type.Optional(attributes),
  },
  closed,
);

export const ProfileUpdate = Type.Object(
  {
    attributes: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: true, minProperties: 1, description: attributesDescription, [opaque]: true },
      ),
    ),
    attribute_operations: Type.Optional(attributeOperations),
    location: Type.Optional(Type.Union([Location, Type.Null()])),
  },
  { ...closed, minProperties: 1, description: "Exactly one of attributes and attribute_operations" },
);

export const ProfileBatchItem = Type.Object({ ...upsertFields, ...itemFields }, closed);

export const profileBatchItemsMax = 100;

export const ProfileBatch = Type.Object(
  { profiles: Type.Array(ProfileBatchItem, { minItems: 1, maxItems: profileBatchItemsMax }) },
  closed,
);

export const ProfileMerge = Type.Object(
  { source_profile_id: Type.String({ description: "The profile that is merged away" }) },
  closed,
);

export const IdentifierUpdate = Type.Object(
  { is_primary: Type.Literal(true, { description: "The other identifiers of its type lose the mark" }) },
  closed,
);

const aggregateField = "source, currency, or properties. and the keys of a path joined by dots";

export const MetricAggregateCreate = Type.Object(
  {
    metric_id: Type.Optional(Type.String({ description: "The metric: this or metric" })),
    metric: Type.Optional(Type.String({ description: "Its name" })),
    measurements: Type.Optional(
      Type.Array(Type.Union([Type.Literal("count"), Type.Literal("sum_value"), Type.Literal("unique_profiles")]), {
        minItems: 1,
        maxItems: 3,
        description: "count unless others are named",
      }),
    ),
    interval: Type.Optional(
      Type.Union([Type.Literal("hour"), Type.Literal("day"), Type.Literal("week"), Type.Literal("month")], {
        description: "Without one there is one bucket",
      }),
    ),
    from: Type.String({ description: "ISO 8601 with an offset; what happened from then on" }),
    to: Type.String({ description: "ISO 8601 with an offset; what happened before then" }),
    timezone: Type.Optional(Type.String({ description: "IANA name; UTC unless another is named" })),
    group_by: Type.Optional(Type.Array(Type.String(), { [documented]: { maxItems: 2 }, description: aggregateField })),
    filter: Type.Optional(
      Type.Object(
        {},
        {
          [documented]: { maxProperties: 10, additionalProperties: { type: ["string", "number", "boolean", "null"] } },
          additionalProperties: true,
          description: `Scalars that fields equal: ${aggregateField}`,
          [opaque]: true,
        },
      ),
    ),
  },
  closed,
);

const description = Type.String({ [documented]: { minLength: 1, maxLength: 1000 }, description: "For people" });

export const MetricCreate = Type.Object(
  {
    name: Type.String({ description: "The event type that it is to count; underscores become dots" }),
    description: Type.Optional(description),
  },
  closed,
);

export const MetricUpdate = Type.Object({ description: Type.Union([description, Type.Null()]) }, closed);
