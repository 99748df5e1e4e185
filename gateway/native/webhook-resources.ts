/** Schemas of webhooks in answers; the others are in resources.ts. */
import Type from "typebox";
import { anyObject, closed, id, nullable, oneOf, time } from "./schema-parts.ts";

export const WebhookEndpoint = Type.Object(
  {
    id: id("hook"),
    object: Type.Literal("webhook_endpoint"),
    url: Type.String(),
    description: Type.String({ description: "May be empty" }),
    types: Type.Array(Type.String(), { description: "Open; types of messages, or `*` alone for all" }),
    filter: nullable(
      Type.Object(
        { event_types: Type.Array(Type.String()), sources: Type.Array(Type.String()) },
        { ...closed, description: "What events are sent; null for all" },
      ),
    ),
    headers: Type.Array(Type.String(), { description: "Names; values are never shown" }),
    rate_limit_per_second: nullable(Type.Integer({ minimum: 1 })),
    status: oneOf(["enabled", "disabled"], "Closed"),
    disabled_reason: nullable(oneOf(["manual", "failing", "gone", "owner_ended"], "Open")),
    failing_since: nullable(time("Since the last success; null after it")),
    last_success_at: nullable(time()),
    revision: Type.String({ description: "The API revision of its messages" }),
    created_by: Type.String({ description: "A key, an installation or a member, or the name of a program" }),
    app_id: nullable(id("app")),
    previous_secret_until: nullable(time("Until then messages carry the signatures of two secrets")),
    secret: Type.Optional(Type.String({ description: "Only in the answer that makes it" })),
    created_at: time(),
    updated_at: time(),
  },
  closed,
);

export const DeletedWebhookEndpoint = Type.Object(
  { id: id("hook"), object: Type.Literal("webhook_endpoint"), deleted: Type.Literal(true) },
  closed,
);

const error = nullable(
  oneOf(
    ["timeout", "connection_refused", "dns_error", "tls_error", "address_blocked", "http_status", "body_too_large"],
    "Open",
  ),
);

const Attempt = Type.Object(
  {
    number: Type.Integer({ minimum: 1 }),
    started_at: time(),
    duration_ms: Type.Integer({ minimum: 0 }),
    response_status: nullable(Type.Integer()),
    error,
    response_excerpt: Type.String({ description: "The first 1,024 characters of the answer to a failed attempt" }),
  },
  closed,
);

export const WebhookDelivery = Type.Object(
  {
    id: id("dlv"),
    object: Type.Literal("webhook_delivery"),
    endpoint_id: id("hook"),
    message_id: Type.String({ description: "The `webhook-id`, the same however often the message is sent" }),
    type: Type.String(),
    status: oneOf(["pending", "delivered", "failed", "cancelled"], "Closed"),
    attempts: Type.Integer({ minimum: 0 }),
    next_attempt_at: nullable(time()),
    last_response_status: nullable(Type.Integer()),
    last_error: error,
    trigger: oneOf(["live", "replay", "manual", "test"], "Open"),
    created_at: time(),
    updated_at: time(),
    completed_at: nullable(time()),
    attempt_list: Type.Optional(Type.Array(Attempt, { description: "With `expand=attempts`, oldest first" })),
    payload: Type.Optional(nullable(anyObject("With `expand=payload`: the message; null once it was emptied"))),
  },
  closed,
);

export const WebhookReplay = Type.Object(
  {
    id: id("rpl"),
    object: Type.Literal("webhook_replay"),
    endpoint_id: id("hook"),
    from: time(),
    to: time(),
    types: Type.Array(Type.String(), { description: "Empty for all of the endpoint" }),
    only: oneOf(["failed", "all"], "Closed"),
    status: oneOf(["processing", "complete", "cancelled"], "Closed"),
    deliveries: Type.Integer({ minimum: 0, description: "Those that were made so far" }),
    created_at: time(),
    completed_at: nullable(time()),
  },
  closed,
);

export const WebhookType = Type.Object(
  {
    name: Type.String(),
    object: Type.Literal("webhook_type"),
    scope: nullable(Type.String({ description: "What the maker of an endpoint needs; null for nothing" })),
    description: Type.String(),
    schema: anyObject("The JSON Schema of `data`"),
    example: anyObject("An example of `data`"),
  },
  closed,
);
