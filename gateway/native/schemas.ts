/** The bodies that the native surface takes. What lies beyond their shape, the services check. */
import Type from "typebox";
import { opaque } from "./validation.ts";

const identifiersMax = 100;
const closed = { additionalProperties: false } as const;
const anyObject = (description: string) => Type.Object({}, { additionalProperties: true, description, [opaque]: true });

/** What an event or a profile is known by. */
const identifierType = Type.String({ description: "email, phone, external_id or a type of your own" });
const identifierValue = Type.String({ minLength: 1, maxLength: 255 });

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

const idempotencyKey = Type.String({ pattern: "^[\\x21-\\x7e]{1,255}$" });

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

export const EventBatchItem = Type.Object(
  {
    ...eventFields,
    client_reference: Type.Optional(Type.String({ maxLength: 255 })),
    idempotency_key: Type.Optional(idempotencyKey),
  },
  closed,
);

/** The items are read one by one, so that a bad one does not fail the others. */
export const EventBatch = Type.Object(
  { events: Type.Array(Type.Unknown(), { minItems: 1, [opaque]: true }), backfill: Type.Optional(Type.Boolean()) },
  closed,
);

const nullableText = (maxLength: number) => Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()]));

const Location = Type.Object(
  {
    city: nullableText(255),
    region: nullableText(255),
    country: nullableText(2),
    timezone: nullableText(255),
    zip: nullableText(32),
  },
  { ...closed, description: "Fields sent replace those fields, null empties one" },
);

const profileFields = {
  attributes: Type.Optional(anyObject("Each top-level key replaces that key")),
  location: Type.Optional(Location),
};

const IdentifierInput = Type.Object(
  { type: identifierType, value: identifierValue, is_primary: Type.Optional(Type.Boolean()) },
  closed,
);

export const ProfileUpsert = Type.Object(
  { identifiers: Type.Array(IdentifierInput, { minItems: 1, maxItems: identifiersMax }), ...profileFields },
  closed,
);

/** A profile as the getting-started guide writes it: identifiers by type. */
export const GuideProfileUpsert = Type.Object(
  {
    identifiers: Type.Record(Type.String(), identifierValue, { maxProperties: identifiersMax }),
    attributes: profileFields.attributes,
  },
  closed,
);
