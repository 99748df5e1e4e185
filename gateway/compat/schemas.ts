/** Schemas of bodies, which also document them. Converters check what lies beyond the shape. */
import Type from "typebox";
import { documented } from "../field-rules.ts";

const closed = { additionalProperties: false } as const;
const nullable = <T extends Type.TSchema>(schema: T, description?: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], description === undefined ? {} : { description }));
const text = (description?: string) => nullable(Type.String(), description);
const object = nullable(Type.Object({}, { additionalProperties: true }));
/** Converters check numbers, because they may have more digits than a double holds. */
const number = (types: readonly string[], description: string) =>
  Type.Optional(Type.Unknown({ description, [documented]: { type: types } }));
/** Envelopes may have unknown fields. */
const envelope = <T extends Type.TProperties>(fields: T) => Type.Object(fields, { additionalProperties: true });
const type = <T extends string>(name: T) => Type.Literal(name);

export const ProfileLocation = Type.Object(
  {
    address1: text(),
    address2: text(),
    city: text(),
    country: text("An ISO 3166-1 alpha-2 code is the native country; any other text is kept as it is"),
    latitude: number(["string", "number", "null"], "Kept as it is written"),
    longitude: number(["string", "number", "null"], "Kept as it is written"),
    region: text(),
    zip: text(),
    timezone: text("An IANA name is the native time zone; any other text is kept as it is"),
    ip: text(),
  },
  closed,
);

const PatchProperties = Type.Object(
  {
    append: object,
    unappend: object,
    unset: nullable(Type.Union([Type.String(), Type.Array(Type.String())])),
  },
  closed,
);

const PatchIdentifiers = Type.Object({ append: object, unappend: object }, closed);

export const ProfileMeta = Type.Object(
  { patch_properties: nullable(PatchProperties), patch_identifiers: nullable(PatchIdentifiers) },
  { additionalProperties: true },
);

const profileFields = {
  email: text(),
  phone_number: text("Separators are taken away; what is not E.164 then is kept, but nobody is known by it"),
  external_id: text(),
  anonymous_id: text(),
  _kx: text(),
  first_name: text(),
  last_name: text(),
  organization: text(),
  title: text(),
  locale: text(),
  image: text(),
  location: nullable(ProfileLocation),
  properties: nullable(
    Type.Object({}, { additionalProperties: true, description: "Merged by key into what the profile has" }),
  ),
};

export const ProfileAttributes = Type.Object(profileFields, closed);

/** In an event, `meta` is one of the attributes. */
export const EventProfileAttributes = Type.Object({ ...profileFields, meta: nullable(ProfileMeta) }, closed);

export const ProfileResource = envelope({
  type: type("profile"),
  id: text("A profile of this id is written to"),
  attributes: Type.Optional(ProfileAttributes),
  meta: nullable(ProfileMeta),
});

export const ProfileCreate = envelope({ data: envelope({ type: type("profile"), attributes: ProfileAttributes }) });
export const ProfileImport = envelope({ data: ProfileResource });
export const ProfileUpdate = envelope({ data: ProfileResource });

const reference = <T extends string>(name: T) => envelope({ type: Type.Optional(type(name)), id: Type.String() });

export const ProfileMerge = envelope({
  data: envelope({
    type: type("profile-merge"),
    id: Type.String({ description: "The profile that lives on" }),
    relationships: envelope({
      profiles: envelope({ data: Type.Array(reference("profile"), { minItems: 1, maxItems: 100 }) }),
    }),
  }),
});

const eventProfile = envelope({
  data: envelope({
    type: Type.Optional(type("profile")),
    id: text(),
    attributes: Type.Optional(EventProfileAttributes),
    meta: nullable(ProfileMeta),
  }),
});

const eventFields = {
  metric: envelope({
    data: envelope({
      type: Type.Optional(type("metric")),
      attributes: envelope({ name: Type.String({ description: "1 to 127 characters" }), service: text() }),
    }),
  }),
  properties: object,
  time: text("ISO 8601, from 1990 to a year ahead; absent means now"),
  value: number(["number", "null"], "Up to 18 digits before the point and 8 behind it"),
  value_currency: text("Three letters; absent means the property's default currency"),
  unique_id: text("At most 255 characters; the first event of its profile and metric wins"),
  backfill: nullable(Type.Boolean(), "Recorded as history: nothing is triggered by it"),
};

export const EventAttributes = Type.Object({ ...eventFields, profile: eventProfile }, closed);
export const EventCreate = envelope({ data: envelope({ type: type("event"), attributes: EventAttributes }) });

/** The shape of revision 2023-02-22, see convert/flat-event.ts. */
export const FlatEventAttributes = Type.Object(
  {
    metric: envelope({ name: Type.String(), service: text() }),
    profile: Type.Object({}, { additionalProperties: true }),
    properties: object,
    time: number(["string", "number", "null"], "ISO 8601, or seconds since 1970"),
    value: eventFields.value,
    value_currency: eventFields.value_currency,
    unique_id: eventFields.unique_id,
    backfill: eventFields.backfill,
  },
  closed,
);

export const EventBulkItem = envelope({
  type: Type.Optional(type("event")),
  attributes: Type.Object(eventFields, closed),
});

export const EventBulkEntry = envelope({
  type: Type.Optional(type("event-bulk-create")),
  attributes: Type.Object(
    {
      profile: eventProfile,
      events: envelope({ data: Type.Array(Type.Unknown(), { minItems: 1 }) }),
      backfill: eventFields.backfill,
    },
    closed,
  ),
});

/** Items are validated one by one. */
const items = (description: string) => envelope({ data: Type.Array(Type.Unknown(), { minItems: 1, description }) });

export const EventBulkCreateJob = envelope({
  data: envelope({
    type: type("event-bulk-create-job"),
    attributes: Type.Object({ "events-bulk-create": items("Entries of a profile and its events") }, closed),
  }),
});

export const ProfileImportJob = envelope({
  data: envelope({
    type: type("profile-bulk-import-job"),
    attributes: Type.Object({ profiles: items("1 to 10,000 profiles, as for /profile-import") }, closed),
  }),
});

export const DataPrivacyDeletionJob = envelope({
  data: envelope({
    type: type("data-privacy-deletion-job"),
    attributes: Type.Object(
      {
        profile: envelope({
          data: envelope({
            type: type("profile"),
            id: text("Exactly one of id, email and phone_number"),
            attributes: nullable(
              Type.Object({ email: text(), phone_number: text("E.164; separators are taken away") }, closed),
            ),
          }),
        }),
      },
      closed,
    ),
  }),
});

export const MetricAggregateCreate = envelope({
  data: envelope({
    type: type("metric-aggregate"),
    attributes: Type.Object(
      {
        metric_id: Type.String(),
        measurements: Type.Array(
          Type.Union([Type.Literal("count"), Type.Literal("sum_value"), Type.Literal("unique")]),
          { minItems: 1, maxItems: 3 },
        ),
        filter: Type.Array(Type.String(), {
          minItems: 1,
          maxItems: 20,
          description: "With greater-or-equal and less-than of datetime; and equals of dimensions",
        }),
        interval: nullable(
          Type.Union(["hour", "day", "week", "month"].map((name) => Type.Literal(name))),
          "day unless said otherwise",
        ),
        timezone: text("IANA name; UTC unless said otherwise"),
        by: nullable(Type.Array(Type.String({ minLength: 1 }), { maxItems: 2 })),
        sort: text(),
        page_size: nullable(Type.Integer({ minimum: 1 })),
        page_cursor: text(),
        return_fields: nullable(Type.Array(Type.String())),
      },
      closed,
    ),
  }),
});
