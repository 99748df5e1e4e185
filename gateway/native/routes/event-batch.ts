import type { RecordEventResult } from "#proto/daybook/event/v1/event_pb.ts";
import { type DaybookError } from "#shared/values/errors.ts";
import { fromErrorMessage } from "#shared/rpc/errors.ts";
import { isJsonObject } from "#shared/json/json.ts";
import { eventOperationOf } from "../../plugins/idempotency.ts";
import type { RateWindow } from "../../rate/limits.ts";
import { answerBatch, answerItems, readItem, type BatchItemResult } from "../batch.ts";
import { toEventInput } from "../convert/events.ts";
import { exampleEventBatch } from "../examples.ts";
import { operation, route } from "../operation.ts";
import { BatchResult } from "../response-schemas.ts";
import { EventBatch, EventBatchItem } from "../schemas.ts";
import { createBatchReader, createReader } from "../../validation.ts";

const batchItemReader = createReader(EventBatchItem);

const batch = operation("events:write", {
  id: "createEvents",
  tag: "Events",
  summary: "Record 1 to 1,000 events",
  description: "A bad item fails alone; the results say what became of each.",
  body: createBatchReader(EventBatch, "events"),
  rateByBody: toWindow,
  data: BatchResult,
  success: { 200: "What became of each item" },
  errors: ["too_many_items"],
  examples: {
    bodies: {
      "Two events": {
        events: [
          {
            type: "order.completed",
            identifier: { type: "email", value: "ada@example.com" },
            properties: { order_id: "1003" },
            client_reference: "row 1",
          },
          {
            type: "order.refunded",
            identifier: { type: "external_id", value: "customer-7" },
            properties: { order_id: "1003" },
            value: "-24.95",
            currency: "EUR",
            idempotency_key: "refund-1003",
          },
        ],
      },
      History: {
        events: [
          {
            type: "order.completed",
            identifier: { type: "phone", value: "+351910000123" },
            properties: {},
            occurred_at: "2024-03-01T12:00:00Z",
          },
        ],
        backfill: true,
      },
    },
    data: exampleEventBatch,
  },
});

export const eventBatchRoutes = [
  route("POST", "/events/batch", batch, async (exchange) => {
    const { request, body } = exchange;
    const items = body.events.map((item, index) =>
      readItem(item, (each) => {
        const input = toEventInput(batchItemReader.read(each), isBackfill(body));
        return Object.assign(input, eventOperationOf(request, index));
      }),
    );
    const results = await answerItems(items, (inputs) => exchange.recordEvents(inputs), toItemResult);
    return answerBatch(exchange, results);
  }),
];

function isBackfill(body: unknown): boolean {
  return isJsonObject(body) && body.backfill === true;
}

function toWindow(body: unknown): RateWindow {
  return isBackfill(body) ? "backfill" : "ordinary";
}

function toItemResult({ outcome }: RecordEventResult): Pick<BatchItemResult, "status" | "data"> | DaybookError {
  if (outcome.case === "error") return fromErrorMessage(outcome.value);
  if (outcome.case !== "recorded") throw new Error("an item has no outcome");
  const { eventId, replayed } = outcome.value;
  return { status: replayed ? 200 : 201, data: { id: eventId, object: "event" } };
}
