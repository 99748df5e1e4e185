/** Bodies of native requests: their shape, and the rules of their content. They also document the surface. */
import Type from "typebox";
import { documented, opaque } from "../field-rules.ts";
import { dedupeIdLengthMax } from "#shared/values/event.ts";
import { identifiersPerWriteMax, typeLengthMax, typePattern, valueLengthMax } from "#shared/values/identifiers.ts";
import { clientReferenceLengthMax } from "#shared/values/limits.ts";
import { locationLengthMax, type LocationField } from "#shared/values/location.ts";
import * as rules from "./rules.ts";

const closed = { additionalProperties: false } as const;
const mainForm = "Main form";
const guideForm = "Form of the getting-started guide";
const anyObject = (description: string) =>
  Type.Object({}, { additionalProperties: true, description, [opaque]: true, ...rules.anyJson });

/** Allows null, so that a response can be sent back. Null means absent, except that updates clear the field. */
export const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const identifierType = Type.String({
  [documented]: { maxLength: typeLengthMax, pattern: typePattern.source },
  description: "email, phone, external_id or a type of your own",
  ...rules.identifierParts.type,
});
const identifierValue = Type.String({
  [documented]: { minLength: 1, maxLength: valueLengthMax },
  description: "Normalised: trimmed, Unicode NFC; an email in lower case, a phone in E.164",
  ...rules.identifierParts.value,
});

/** Identifies the profile of an event. */
export const EventIdentifier = Type.Object(
  { type: identifierType, value: identifierValue },
  { ...closed, description: "What the profile is known by. Required unless profile_id is given", ...rules.identifier },
);

const eventFields = {
  type: Type.String({
    [documented]: { maxLength: 200, pattern: "^[a-z0-9]+([._][a-z0-9]+){0,4}$" },
    description: "Lowercase dot notation, such as order.completed; underscores become dots",
    ...rules.dottedName,
  }),
  properties: anyObject("At most 256 KB, nesting at most 32"),
  profile_id: Type.Optional(
    orNull(
      Type.String({
        description: "The profile of the event. Required unless identifier is given",
        ...rules.idOf("prof"),
      }),
    ),
  ),
  identifier: Type.Optional(EventIdentifier),
  value: Type.Optional(
    orNull(
      Type.String({
        [documented]: { pattern: "^-?[0-9]{1,18}(\\.[0-9]{1,8})?$" },
        description: "A decimal number, sent with currency",
        ...rules.money.value,
      }),
    ),
  ),
  currency: Type.Optional(
    orNull(
      Type.String({
        [documented]: { pattern: "^[A-Za-z]{3}$" },
        description: "Three letters, sent with value",
        ...rules.money.currency,
      }),
    ),
  ),
  occurred_at: Type.Optional(
    Type.String({
      [documented]: { format: "date-time" },
      description: "ISO 8601 with an offset; absent means now",
      ...rules.occurredAt,
    }),
  ),
  dedupe_id: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: dedupeIdLengthMax, ...rules.dedupeId }))),
};

const idempotencyKey = Type.String({
  [documented]: { pattern: "^[\\x21-\\x7e]{1,255}$" },
  ...rules.idempotencyKeyRule,
});

export const EventCreate = Type.Object(eventFields, { ...closed, title: mainForm, ...rules.event });

/** An event in the form of the getting-started guide. */
export const GuideEventCreate = Type.Object(
  {
    event_type: eventFields.type,
    profile: Type.Object(
      {
        email: Type.Optional(identifierValue),
        phone: Type.Optional(identifierValue),
        external_id: Type.Optional(identifierValue),
      },
      { ...closed, description: "Exactly one of them", ...rules.guideProfile },
    ),
    properties: eventFields.properties,
    idempotency_key: Type.Optional(idempotencyKey),
  },
  { ...closed, title: guideForm },
);

/** Fields that every batch item has. */
const itemFields = {
  client_reference: Type.Optional(
    orNull(Type.String({ maxLength: clientReferenceLengthMax, description: "Echoed in the result" })),
  ),
  idempotency_key: Type.Optional(idempotencyKey),
};

export const EventBatchItem = Type.Object({ ...eventFields, ...itemFields }, { ...closed, ...rules.event });

const eventBatchItemsMax = 1000;

export const EventBatch = Type.Object(
  {
    events: Type.Array(EventBatchItem, { minItems: 1, maxItems: eventBatchItemsMax }),
    backfill: Type.Optional(
      Type.Boolean({ description: "History: counted, but nothing is triggered by it. Charged to a window of its own" }),
    ),
  },
  closed,
);

const nullableText = (field: LocationField, description?: string, limits: { pattern?: string } = {}) =>
  Type.Optional(
    Type.Union(
      [
        Type.String({
          [documented]: { maxLength: locationLengthMax[field], ...limits },
          ...rules.locationText(field),
        }),
        Type.Null(),
      ],
      description === undefined ? {} : { description },
    ),
  );

export const LocationInput = Type.Object(
  {
    city: nullableText("city"),
    region: nullableText("region"),
    country: nullableText("country", "ISO 3166-1 alpha-2, or XK", { pattern: "^[A-Z]{2}$" }),
    timezone: nullableText("timezone", "IANA name"),
    zip: nullableText("zip"),
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
  { ...closed, ...rules.identifier },
);

const identifiers = Type.Array(IdentifierInput, {
  minItems: 1,
  maxItems: identifiersPerWriteMax,
  ...rules.identifierList,
});

export const ProfileCreate = Type.Object(
  { identifiers, attributes: Type.Optional(attributes), location: Type.Optional(orNull(LocationInput)) },
  closed,
);

export const AttributeOperation = Type.Object(
  {
    op: Type.Union(
      ["set", "delete", "append_unique", "remove"].map((name) => Type.Literal(name)),
      { description: "append_unique and remove treat the array at the path as a set" },
    ),
    path: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 32 })], {
      description: "A top-level key, or the keys of a nested path from the top down; dots are literal",
      ...rules.operationPath,
    }),
    value: Type.Optional(
      Type.Unknown({ description: "Any JSON; required for all but delete, which has none", [opaque]: true }),
    ),
  },
  { ...closed, ...rules.attributeOperation },
);

const attributeOperations = Type.Array(AttributeOperation, {
  minItems: 1,
  maxItems: 100,
  description: "Applied in order, all or none; not together with attributes",
});

const upsertFields = { ...ProfileCreate.properties, attribute_operations: Type.Optional(attributeOperations) };

export const ProfileUpsert = Type.Object(upsertFields, { ...closed, title: mainForm, ...rules.attributesOnce });

/** A profile in the form of the getting-started guide: identifiers by type. */
export const GuideProfileUpsert = Type.Object(
  {
    identifiers: Type.Unsafe<Record<string, string>>(
      Type.Object(
        {},
        { additionalProperties: identifierValue, maxProperties: identifiersPerWriteMax, ...rules.identifiersByType },
      ),
    ),
    attributes: Type.Optional(attributes),
  },
  { ...closed, title: guideForm },
);

export const ProfileUpdate = Type.Object(
  {
    attributes: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          minProperties: 1,
          description: attributesDescription,
          [opaque]: true,
          ...rules.anyJson,
        },
      ),
    ),
    attribute_operations: Type.Optional(attributeOperations),
    location: Type.Optional(orNull(LocationInput)),
  },
  {
    ...closed,
    minProperties: 1,
    description: "Exactly one of attributes and attribute_operations",
    ...rules.attributesNeeded,
  },
);

export const ProfileBatchItem = Type.Object({ ...upsertFields, ...itemFields }, { ...closed, ...rules.attributesOnce });

const profileBatchItemsMax = 100;

export const ProfileBatch = Type.Object(
  { profiles: Type.Array(ProfileBatchItem, { minItems: 1, maxItems: profileBatchItemsMax }) },
  closed,
);

export const ProfileMerge = Type.Object(
  { source_profile_id: Type.String({ description: "The profile that is merged away", ...rules.idOf("prof") }) },
  closed,
);

export const IdentifierUpdate = Type.Object(
  { is_primary: Type.Literal(true, { description: "The other identifiers of its type lose the mark" }) },
  closed,
);
