/** Bodies of webhooks; the other bodies are in schemas.ts. The webhook service checks what the fields hold. */
import Type from "typebox";
import { documented } from "../field-rules.ts";
import { dateTime } from "./rules.ts";
import { orNull } from "./schemas.ts";

const closed = { additionalProperties: false } as const;
const typesMax = 50;
const graceSecondsMax = 604_800;
const rateMax = 10_000;

const types = (description: string) => Type.Array(Type.String(), { minItems: 1, maxItems: typesMax, description });

const filter = orNull(
  Type.Object(
    {
      event_types: Type.Optional(
        Type.Array(Type.String(), { maxItems: 50, description: "Types of events, such as order.completed or order.*" }),
      ),
      sources: Type.Optional(Type.Array(Type.String(), { maxItems: 20 })),
    },
    { ...closed, description: "What events are sent; an empty list lets all through" },
  ),
);

const name = Type.String({ description: "A name of HTTP; none that HTTP or Daybook sets" });
const headersDescription = "Go with every message. Values are never shown";

const common = {
  description: Type.Optional(Type.String({ description: "For people; at most 255 characters" })),
  filter: Type.Optional(filter),
  rate_limit_per_second: Type.Optional(
    orNull(Type.Integer({ minimum: 1, maximum: rateMax, description: "At most so many messages a second" })),
  ),
  revision: Type.Optional(
    Type.String({ description: "The API revision of its messages; that of the caller unless it is sent" }),
  ),
};
const url = Type.String({ description: "https, at most 2,048 characters, without a user and a fragment" });

export const WebhookEndpointCreate = Type.Object(
  {
    url,
    types: types("Types of messages, or `*` alone for all. Their scopes are needed"),
    ...common,
    headers: Type.Optional(
      Type.Array(Type.Object({ name, value: Type.String() }, closed), {
        maxItems: 10,
        description: headersDescription,
      }),
    ),
  },
  closed,
);

export const WebhookEndpointUpdate = Type.Object(
  {
    url: Type.Optional(url),
    types: Type.Optional(types("As when it is made; they replace those before")),
    ...common,
    headers: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name,
            value: Type.Optional(Type.String({ description: "Without one, the header keeps the value it has" })),
          },
          closed,
        ),
        { maxItems: 10, description: `${headersDescription}. They replace those before` },
      ),
    ),
    status: Type.Optional(
      Type.Union([Type.Literal("enabled"), Type.Literal("disabled")], {
        description: "A disabled endpoint is sent nothing; what waits is cancelled",
      }),
    ),
  },
  { ...closed, minProperties: 1 },
);

export const WebhookSecretRotation = Type.Object(
  {
    grace_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: graceSecondsMax,
        description: "How long messages carry the signature of the secret before, too; 86400 unless it is sent",
      }),
    ),
  },
  closed,
);

const instant = (description: string) =>
  Type.String({ [documented]: { format: "date-time" }, description, ...dateTime });

export const WebhookReplayCreate = Type.Object(
  {
    from: instant("What was received from then on"),
    to: instant("And before then"),
    types: Type.Optional(types("Some of the types of the endpoint; all of them unless they are sent")),
    only: Type.Union([Type.Literal("failed"), Type.Literal("all")], {
      description: "failed: what was not delivered, or never made. all: also what was delivered",
    }),
  },
  closed,
);
