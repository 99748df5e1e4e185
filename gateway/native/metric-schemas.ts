/** Bodies of metric requests; the other bodies are in schemas.ts. */
import Type from "typebox";
import { documented, opaque } from "../field-rules.ts";
import * as rules from "./rules.ts";
import { orNull } from "./schemas.ts";

const descriptionLengthMax = 1000;
const groupByMax = 2;
const closed = { additionalProperties: false } as const;

const aggregateField =
  'source, currency, or a path of properties: "properties.address.city", or ["properties", "a.b"] where keys have ' +
  "dots. No path leads through an array";
const AggregateField = Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 33 })], {
  description: aggregateField,
});

export const MetricAggregateCreate = Type.Object(
  {
    metric_id: Type.Optional(
      Type.String({ description: "The metric. Required unless metric is given", ...rules.idOf("mtr") }),
    ),
    metric: Type.Optional(Type.String({ description: "Its name" })),
    measurements: Type.Optional(
      Type.Array(Type.Union([Type.Literal("count"), Type.Literal("sum_value"), Type.Literal("unique_profiles")]), {
        minItems: 1,
        maxItems: 3,
        description: "count unless others are named",
      }),
    ),
    interval: Type.Optional(
      Type.Union(
        [Type.Literal("hour"), Type.Literal("day"), Type.Literal("week"), Type.Literal("month"), Type.Null()],
        {
          description: "Without one there is one bucket",
        },
      ),
    ),
    from: Type.String({
      [documented]: { format: "date-time" },
      description: "ISO 8601 with an offset; what happened from then on",
      ...rules.dateTime,
    }),
    to: Type.String({
      [documented]: { format: "date-time" },
      description: "ISO 8601 with an offset; what happened before then",
      ...rules.dateTime,
    }),
    timezone: Type.Optional(Type.String({ description: "IANA name; UTC unless another is named", ...rules.timezone })),
    group_by: Type.Optional(
      Type.Array(AggregateField, {
        maxItems: groupByMax,
        description: "In `group` of the answer a field stands under its text, or under its keys joined by dots",
      }),
    ),
    filter: Type.Optional(
      Type.Union(
        [
          Type.Object(
            {},
            {
              [documented]: {
                maxProperties: 10,
                additionalProperties: { type: ["string", "number", "boolean", "null"] },
              },
              additionalProperties: true,
            },
          ),
          Type.Array(Type.Object({ field: AggregateField, value: Type.Unknown({ description: "A scalar" }) }, closed), {
            [documented]: { maxItems: 10 },
          }),
        ],
        {
          description:
            "Scalars that fields equal: as an object by field, or as a list of field and value. " +
            `A field is ${aggregateField}`,
          [opaque]: true,
        },
      ),
    ),
  },
  { ...closed, ...rules.aggregate },
);

const description = Type.String({
  [documented]: { minLength: 1, maxLength: descriptionLengthMax },
  description: "For people",
  ...rules.shortText(descriptionLengthMax),
});

export const MetricCreate = Type.Object(
  {
    name: Type.String({
      description: "The event type that it is to count; underscores become dots",
      ...rules.dottedName,
    }),
    description: Type.Optional(orNull(description)),
  },
  closed,
);

export const MetricUpdate = Type.Object({ description: orNull(description) }, closed);
