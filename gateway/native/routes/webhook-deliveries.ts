import Type from "typebox";
import type { Delivery } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { webhookTypes } from "#shared/values/webhook-types.ts";
import { deliveryJson, webhookTypeJson } from "#shared/wire/webhooks.ts";
import type { Exchange } from "../../surface/exchange.ts";
import { deliveryStatusNames, toDeliveryStatus, toPathParam, viewerOf } from "../convert/webhooks.ts";
import { answerData } from "../envelope.ts";
import { exampleIds } from "../examples.ts";
import type { NativeExchange } from "../exchange.ts";
import { idFilter } from "../filters.ts";
import { operation, route } from "../operation.ts";
import { openPage } from "../paging.ts";
import { exampleAttempts, exampleWebhookDelivery, exampleWebhookTypes } from "../webhook-examples.ts";
import { WebhookDelivery, WebhookType } from "../webhook-resources.ts";

const common = { tag: "Webhooks", data: WebhookDelivery } as const;
const pathErrors = ["invalid_id", "resource_not_found"] as const;

const list = operation(null, {
  ...common,
  id: "listWebhookDeliveries",
  summary: "List deliveries of webhooks, newest first",
  description: "Those of endpoints that the caller sees, for 30 days.",
  query: {
    filters: {
      endpoint_id: idFilter("hook", "Deliveries to this endpoint"),
      status: { description: "Deliveries with this status", oneOf: deliveryStatusNames },
      type: "Deliveries of this type",
    },
    ranges: { created_at: "When the delivery was made" },
    paged: true,
  },
  list: true,
  success: { 200: "A page of deliveries" },
  errors: ["invalid_id"],
  examples: {
    query: {
      "filter[endpoint_id]": exampleIds.webhookEndpoint,
      "filter[status]": "failed",
      "filter[type]": "event.recorded",
      "filter[created_at][gte]": "2026-11-01T00:00:00Z",
      "page[limit]": "10",
    },
    data: [exampleWebhookDelivery],
  },
});

const read = operation(null, {
  ...common,
  id: "getWebhookDelivery",
  summary: "Read a delivery of a webhook",
  description: "Who sees the endpoint has the scopes of all that is sent to it, and may see the message too.",
  query: { expands: { attempts: "Each attempt, as `attempt_list`", payload: "The message, as `payload`" } },
  success: { 200: "The delivery" },
  errors: pathErrors,
  examples: {
    query: { expand: "attempts" },
    data: { ...exampleWebhookDelivery, attempt_list: exampleAttempts },
  },
});

const retry = operation(null, {
  ...common,
  id: "retryWebhookDelivery",
  summary: "Send a message again now",
  description: "One that was delivered, has failed or was cancelled, with the same `webhook-id`.",
  success: { 202: "The delivery, pending again" },
  errors: [...pathErrors, "invalid_state_transition"],
  examples: {
    data: { ...exampleWebhookDelivery, status: "pending", trigger: "manual", completed_at: null },
  },
});

const types = operation(null, {
  tag: "Webhooks",
  id: "listWebhookTypes",
  summary: "List the types of messages",
  description: "All of them, with the JSON Schema and an example of their `data`.",
  data: Type.Array(WebhookType),
  success: { 200: "The types" },
  examples: { data: exampleWebhookTypes },
});

export const webhookDeliveryRoutes = [
  route("GET", "/webhook-deliveries", list, async (exchange) => {
    const { caller, query, propertyId, services } = exchange;
    const { filters, ranges, limit } = query;
    const page = openPage(exchange, "webhook deliveries");
    const { deliveries, hasMore } = await services.webhooks.listDeliveries({
      propertyId,
      viewer: viewerOf(caller),
      endpointId: filters.get("endpoint_id"),
      status: toDeliveryStatus(filters.get("status")),
      type: filters.get("type"),
      createdAt: ranges.get("created_at"),
      limit,
      afterDeliveryId: page.after,
    });
    const data = `[${deliveries.map((delivery) => deliveryJson(delivery)).join(",")}]`;
    return answerData(exchange, data, page.meta(hasMore, deliveries.at(-1)?.id));
  }),

  route("GET", "/webhook-deliveries/:id", read, async (exchange) => {
    const { expands } = exchange.query;
    const { delivery } = await exchange.services.webhooks.getDelivery(named(exchange), toPathParam);
    return answerDelivery(exchange, delivery, { attempts: expands.has("attempts"), payload: expands.has("payload") });
  }),

  route("POST", "/webhook-deliveries/:id/retry", retry, async (exchange) => {
    const { delivery } = await exchange.services.webhooks.retryDelivery(named(exchange), toPathParam);
    void exchange.reply.code(202);
    return answerDelivery(exchange, delivery);
  }),

  route("GET", "/webhook-types", types, (exchange) =>
    answerData(exchange, `[${webhookTypes.map(webhookTypeJson).join(",")}]`),
  ),
];

function named({ caller, propertyId, ids }: NativeExchange) {
  return { propertyId, deliveryId: ids.id, viewer: viewerOf(caller) };
}

function answerDelivery(
  exchange: Exchange,
  delivery: Delivery | undefined,
  expansion?: Parameters<typeof deliveryJson>[1],
): string {
  if (!delivery) throw new Error("the delivery was not returned");
  return answerData(exchange, deliveryJson(delivery, expansion));
}
