import { ReplayChoice, type Endpoint } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { parseDateTime, toTimestamp } from "#shared/values/time.ts";
import { deliveryJson, endpointJson, replayJson } from "#shared/wire/webhooks.ts";
import { operationOf } from "../../plugins/idempotency.ts";
import type { Exchange } from "../../surface/exchange.ts";
import { createReader } from "../../validation.ts";
import { requireTypes, toEndpointStatus, toFilter, toPathParam, viewerOf } from "../convert/webhooks.ts";
import { answerData } from "../envelope.ts";
import { exampleIds } from "../examples.ts";
import { operation, route } from "../operation.ts";
import { openPage } from "../paging.ts";
import {
  exampleAttempts,
  exampleNewWebhookEndpoint,
  exampleWebhookDelivery,
  exampleWebhookEndpoint,
  exampleWebhookReplay,
} from "../webhook-examples.ts";
import { DeletedWebhookEndpoint, WebhookDelivery, WebhookEndpoint, WebhookReplay } from "../webhook-resources.ts";
import {
  WebhookEndpointCreate,
  WebhookEndpointUpdate,
  WebhookReplayCreate,
  WebhookSecretRotation,
} from "../webhook-schemas.ts";

const common = { tag: "Webhooks", data: WebhookEndpoint } as const;
const pathErrors = ["invalid_id", "resource_not_found"] as const;
const fieldErrors = [
  "invalid_event_type",
  "invalid_revision",
  "missing_scope",
  "parameter_conflict",
  "too_many_items",
  "url_not_allowed",
] as const;
const seen = "An endpoint is seen by who has the scopes of all its types; an access token sees its own.";

const list = operation(null, {
  ...common,
  id: "listWebhookEndpoints",
  summary: "List webhook endpoints, oldest first",
  description: seen,
  query: {
    filters: { status: { description: "Endpoints with this status", oneOf: ["enabled", "disabled"] } },
    paged: true,
  },
  list: true,
  success: { 200: "A page of endpoints" },
  examples: { query: { "filter[status]": "enabled", "page[limit]": "10" }, data: [exampleWebhookEndpoint] },
});

const create = operation(null, {
  ...common,
  id: "createWebhookEndpoint",
  summary: "Make a webhook endpoint",
  description:
    "Messages of its types are sent to it from now on. It needs the scopes of its types, and ends with the key or " +
    "installation that makes it. The `secret` that messages are signed with is in this answer only; the same request " +
    "with the same Idempotency-Key is answered with it again.",
  body: createReader(WebhookEndpointCreate),
  success: { 201: "The endpoint made, with its secret" },
  errors: fieldErrors,
  examples: {
    bodies: {
      "Orders to a warehouse": {
        url: "https://shop.example.com/daybook",
        types: ["event.recorded"],
        description: "Orders to the warehouse",
        filter: { event_types: ["order.*"] },
        headers: [{ name: "x-shop", value: "7" }],
      },
      "All that may be read": { url: "https://shop.example.com/all", types: ["*"], rate_limit_per_second: 50 },
    },
    data: exampleNewWebhookEndpoint,
  },
});

const read = operation(null, {
  ...common,
  id: "getWebhookEndpoint",
  summary: "Read a webhook endpoint",
  description: seen,
  success: { 200: "The endpoint" },
  errors: pathErrors,
  examples: { data: exampleWebhookEndpoint },
});

const update = operation(null, {
  ...common,
  id: "updateWebhookEndpoint",
  summary: "Change a webhook endpoint, or enable or disable it",
  description: "What is not sent stays. Types that it gains need their scopes. That of an app is changed with the app.",
  body: createReader(WebhookEndpointUpdate),
  success: { 200: "The endpoint as it now is" },
  errors: [...pathErrors, ...fieldErrors, "invalid_state_transition"],
  examples: {
    bodies: {
      "Disable it": { status: "disabled" },
      "Another address, and enabled": {
        status: "enabled",
        url: "https://shop.example.com/daybook/2",
        types: ["event.recorded"],
        headers: [{ name: "x-shop", value: "8" }],
      },
    },
    data: exampleWebhookEndpoint,
  },
});

const remove = operation(null, {
  tag: "Webhooks",
  data: DeletedWebhookEndpoint,
  id: "deleteWebhookEndpoint",
  summary: "Delete a webhook endpoint, with its deliveries",
  success: { 200: "It is gone" },
  errors: [...pathErrors, "invalid_state_transition"],
  examples: { data: { id: exampleIds.webhookEndpoint, object: "webhook_endpoint", deleted: true } },
});

const rotate = operation(null, {
  ...common,
  id: "rotateWebhookSecret",
  summary: "Give a webhook endpoint a new secret",
  description:
    "Messages carry the signatures of both for the grace. The secret is in this answer only: a repeat with the same " +
    "Idempotency-Key changes nothing and comes without it.",
  body: createReader(WebhookSecretRotation),
  success: { 200: "The endpoint with its new secret" },
  errors: [...pathErrors, "invalid_state_transition"],
  examples: { bodies: { "Both for an hour": { grace_seconds: 3600 } }, data: exampleNewWebhookEndpoint },
});

const test = operation(null, {
  tag: "Webhooks",
  id: "testWebhookEndpoint",
  summary: "Send a test message to a webhook endpoint",
  description: "`webhook.test`, once and at once, also to one that is disabled. At most 10 a minute.",
  timeoutMs: 25_000,
  data: WebhookDelivery,
  success: { 200: "The delivery with its attempt" },
  errors: pathErrors,
  examples: {
    data: { ...exampleWebhookDelivery, type: "webhook.test", trigger: "test", attempt_list: exampleAttempts },
  },
});

const replay = operation(null, {
  tag: "Webhooks",
  id: "replayWebhooks",
  summary: "Send again what happened in a span of time",
  description:
    "From the stored events: also what came while the endpoint was disabled or before it was made. At most 100,000 " +
    "messages. It goes on behind the answer.",
  body: createReader(WebhookReplayCreate),
  data: WebhookReplay,
  success: { 202: "The replay" },
  errors: [...pathErrors, "invalid_state_transition", "parameter_conflict", "too_many_items"],
  examples: {
    bodies: {
      "What was missed on a day": { from: "2026-11-01T00:00:00Z", to: "2026-11-02T00:00:00Z", only: "failed" },
    },
    data: exampleWebhookReplay,
  },
});

export const webhookEndpointRoutes = [
  route("GET", "/webhook-endpoints", list, async (exchange) => {
    const { caller, query, propertyId, services } = exchange;
    const page = openPage(exchange, "webhook endpoints");
    const { endpoints, hasMore } = await services.webhooks.listEndpoints({
      propertyId,
      viewer: viewerOf(caller),
      limit: query.limit,
      afterEndpointId: page.after,
      status: toEndpointStatus(query.filters.get("status")),
    });
    const data = `[${endpoints.map((endpoint) => endpointJson(endpoint)).join(",")}]`;
    return answerData(exchange, data, page.meta(hasMore, endpoints.at(-1)?.id));
  }),

  route("POST", "/webhook-endpoints", create, async (exchange) => {
    const { caller, request, reply, propertyId, services, body } = exchange;
    requireTypes(caller, body.types);
    const { endpoint, secret } = await services.webhooks.createEndpoint({
      propertyId,
      url: body.url,
      description: body.description,
      types: body.types,
      filter: toFilter(body.filter ?? null),
      headers: body.headers ?? [],
      rateLimitPerSecond: body.rate_limit_per_second ?? undefined,
      revision: body.revision ?? caller.revision,
      createdBy: caller.callerId,
      ...operationOf(request),
    });
    // No answer with a secret is stored: the service answers the same operation with the same secret.
    request.isUnfinished = true;
    void reply.code(201).header("location", `/v1/webhook-endpoints/${endpoint?.id}`);
    return answerEndpoint(exchange, endpoint, secret);
  }),

  route("GET", "/webhook-endpoints/:id", read, async (exchange) => {
    const { endpoint } = await exchange.services.webhooks.getEndpoint(named(exchange), toPathParam);
    return answerEndpoint(exchange, endpoint);
  }),

  route("PATCH", "/webhook-endpoints/:id", update, async (exchange) => {
    const { caller, services, body } = exchange;
    requireTypes(caller, body.types ?? []);
    const { rate_limit_per_second: rateLimit } = body;
    const { endpoint } = await services.webhooks.updateEndpoint(
      {
        ...named(exchange),
        url: body.url,
        description: body.description,
        types: body.types ?? [],
        filter: body.filter === undefined ? undefined : toFilter(body.filter),
        headers: body.headers && {
          headers: body.headers.map(({ name, value = "" }) => ({ name, value })),
        },
        rateLimitPerSecond: rateLimit === null ? 0 : rateLimit,
        status: toEndpointStatus(body.status),
        revision: body.revision,
      },
      toPathParam,
    );
    return answerEndpoint(exchange, endpoint);
  }),

  route("POST", "/webhook-endpoints/:id/rotate-secret", rotate, async (exchange) => {
    const { request, services, body } = exchange;
    const wanted = { ...named(exchange), graceSeconds: body.grace_seconds, ...operationOf(request) };
    const { endpoint, secret } = await services.webhooks.rotateEndpointSecret(wanted, toPathParam);
    if (!endpoint) throw new Error("the endpoint was not returned");
    request.isSecret = true;
    return answerData(exchange, endpointJson(endpoint, secret), {}, endpointJson(endpoint));
  }),

  route("POST", "/webhook-endpoints/:id/test", test, async (exchange) => {
    const { delivery } = await exchange.services.webhooks.testEndpoint(named(exchange), toPathParam);
    if (!delivery) throw new Error("the delivery was not returned");
    return answerData(exchange, deliveryJson(delivery, { attempts: true }));
  }),

  route("POST", "/webhook-endpoints/:id/replay", replay, async (exchange) => {
    const { request, reply, services, body } = exchange;
    const made = await services.webhooks.createReplay(
      {
        ...named(exchange),
        from: instantOf(body.from),
        to: instantOf(body.to),
        types: body.types ?? [],
        only: body.only === "failed" ? ReplayChoice.FAILED : ReplayChoice.ALL,
        ...operationOf(request),
      },
      toPathParam,
    );
    if (!made.replay) throw new Error("the replay was not returned");
    void reply.code(202);
    return answerData(exchange, replayJson(made.replay));
  }),

  route("DELETE", "/webhook-endpoints/:id", remove, async (exchange) => {
    const { ids, services } = exchange;
    // Deleting one that is not there, or not seen, is no error of the service.
    await services.webhooks.getEndpoint(named(exchange), toPathParam);
    await services.webhooks.deleteEndpoint(named(exchange), toPathParam);
    return answerData(exchange, JSON.stringify({ id: ids.id, object: "webhook_endpoint", deleted: true }));
  }),
];

function named({ caller, propertyId, ids }: Exchange & { ids: { id: string } }) {
  return { propertyId, endpointId: ids.id, viewer: viewerOf(caller) };
}

function instantOf(text: string) {
  return toTimestamp(parseDateTime(text) ?? 0);
}

function answerEndpoint(exchange: Exchange, endpoint: Endpoint | undefined, secret?: string): string {
  if (!endpoint) throw new Error("the endpoint was not returned");
  return answerData(exchange, endpointJson(endpoint, secret));
}
