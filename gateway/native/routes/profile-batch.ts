import type { UpsertProfilesResult } from "#proto/daybook/profile/v1/profile_pb.ts";
import { type DaybookError } from "#shared/values/errors.ts";
import { fromErrorMessage } from "#shared/rpc/errors.ts";
import { operationOf } from "../../plugins/idempotency.ts";
import { answerBatch, answerItems, readItem, type BatchItemResult } from "../batch.ts";
import { toUpsertRequest } from "../convert/profiles.ts";
import { exampleProfileBatch } from "../examples.ts";
import { operation, route } from "../operation.ts";
import { BatchResult } from "../response-schemas.ts";
import { ProfileBatch, ProfileBatchItem } from "../schemas.ts";
import { createBatchReader, createReader } from "../../validation.ts";

const batchItem = createReader(ProfileBatchItem);

// A hundred items are written one after the other.
const batchTimeoutMs = 30_000;

const batch = operation("profiles:write", {
  id: "upsertProfiles",
  tag: "Profiles",
  summary: "Upsert 1 to 100 profiles",
  description:
    "In order, as if one after the other. A bad item fails alone; the results say what became of each: 201 created, " +
    "200 updated or done before with the same idempotency_key. If-Match is refused, as it is about one profile.",
  body: createBatchReader(ProfileBatch, "profiles"),
  timeoutMs: batchTimeoutMs,
  data: BatchResult,
  success: { 200: "What became of each item" },
  errors: ["too_many_items"],
  examples: {
    bodies: {
      "Two customers": {
        profiles: [
          {
            identifiers: [{ type: "email", value: "ada@example.com" }],
            attributes: { plan: "gold" },
            client_reference: "row 1",
          },
          { identifiers: [{ type: "phone", value: "+351910000123" }], idempotency_key: "import-7-row-2" },
        ],
      },
    },
    data: exampleProfileBatch,
  },
});

export const profileBatchRoutes = [
  route("POST", "/profiles/batch", batch, async (exchange) => {
    const { request, propertyId, services, body } = exchange;
    const items = body.profiles.map((item, index) =>
      readItem(item, (each) => Object.assign(toUpsertRequest("", batchItem.read(each)), operationOf(request, index))),
    );
    const results = await answerItems(
      items,
      async (inputs) => (await services.profiles.upsertProfiles({ propertyId, items: inputs })).results,
      toItemResult,
    );
    return answerBatch(exchange, results);
  }),
];

function toItemResult({ outcome }: UpsertProfilesResult): Pick<BatchItemResult, "status" | "data"> | DaybookError {
  if (outcome.case === "error") return fromErrorMessage(outcome.value);
  if (outcome.case !== "upserted") throw new Error("an item has no outcome");
  const { profileId, created } = outcome.value;
  return { status: created ? 201 : 200, data: { id: profileId, object: "profile" } };
}
