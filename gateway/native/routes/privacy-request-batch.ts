import type { CreatePrivacyRequestResponse } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { DaybookError, settle } from "#shared/values/errors.ts";
import { requireScope } from "../../plugins/authentication.ts";
import { operationOf } from "../../plugins/idempotency.ts";
import { createBatchReader, createReader } from "../../validation.ts";
import { answerBatch, answerItems, readItem, type BatchItemResult } from "../batch.ts";
import { scopeOfType, toPrivacyRequest } from "../convert/privacy.ts";
import { operation, route } from "../operation.ts";
import { examplePrivacyBatch } from "../privacy-examples.ts";
import { PrivacyRequestBatch, PrivacyRequestBatchItem } from "../privacy-schemas.ts";
import { BatchResult } from "../response-schemas.ts";

const batchItem = createReader(PrivacyRequestBatchItem);

const requestsAtOnce = 8;

const batch = operation(["privacy:delete", "privacy:export"], {
  id: "createPrivacyRequests",
  tag: "Privacy",
  summary: "Make 1 to 100 privacy requests",
  description:
    "A bad item fails alone, and so does one whose scope the key lacks: `privacy:delete` for an erasure, " +
    "`privacy:export` for access. 202 is taken, 200 is a reference that the property has.",
  body: createBatchReader(PrivacyRequestBatch, "requests"),
  data: BatchResult,
  success: { 200: "What became of each item" },
  errors: ["too_many_items"],
  examples: {
    bodies: {
      "Two persons": {
        requests: [
          {
            type: "erasure",
            identifiers: [{ type: "email", value: "leaving@example.com" }],
            reference: "ticket-4712",
            not_before: "2026-11-03T09:30:00Z",
            suppress: true,
            client_reference: "row 1",
          },
          { type: "access", identifiers: [{ type: "external_id", value: "customer-7" }], reference: "ticket-4711" },
        ],
      },
    },
    data: examplePrivacyBatch,
  },
});

export const privacyRequestBatchRoutes = [
  route("POST", "/privacy-requests/batch", batch, async (exchange) => {
    const { caller, request, propertyId, services, body } = exchange;
    const items = body.requests.map((item, index) =>
      readItem(item, (each) => {
        const wanted = batchItem.read(each);
        requireScope(caller, scopeOfType(wanted.type));
        return Object.assign(toPrivacyRequest(propertyId, caller.callerId, wanted), operationOf(request, index));
      }),
    );
    const results = await answerItems(
      items,
      async (inputs) => {
        const outcomes = await mapSome(inputs, (wanted) => settle(services.privacy.createPrivacyRequest(wanted)));
        const [first] = outcomes;
        // Nothing was taken, and that is no fault of the items.
        if (first instanceof DaybookError && outcomes.every(isFailure)) throw first;
        return outcomes;
      },
      toItemResult,
    );
    return answerBatch(exchange, results);
  }),
];

/** Maps items, a few at once. The results are in their order. */
async function mapSome<Item, Result>(items: readonly Item[], act: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  const remaining = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of remaining) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: requestsAtOnce }, work));
  return results;
}

function isFailure(outcome: unknown): boolean {
  return outcome instanceof DaybookError && outcome.status >= 500;
}

function toItemResult(
  outcome: CreatePrivacyRequestResponse | DaybookError,
): Pick<BatchItemResult, "status" | "data"> | DaybookError {
  if (outcome instanceof Error) return outcome;
  if (!outcome.request) throw new Error("the privacy request was not returned");
  return { status: outcome.known ? 200 : 202, data: { id: outcome.request.id, object: "privacy_request" } };
}
