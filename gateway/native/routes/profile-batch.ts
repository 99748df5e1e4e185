import type { FastifyInstance } from "fastify";
import type { UpsertProfilesResult } from "#proto/daybook/profile/v1/profile_pb.ts";
import { type DaybookError } from "#shared/values/errors.ts";
import { fromErrorMessage } from "#shared/rpc/errors.ts";
import { calling, callOptions } from "#shared/rpc/interceptors.ts";
import { operationOf } from "../../plugins/idempotency.ts";
import { callerOf, callOf } from "../../plugins/request.ts";
import { answerItems, readItem, sendBatch, type BatchItemResult } from "../batch.ts";
import type { NativeContext } from "../context.ts";
import { toUpsertRequest } from "../convert/profiles.ts";
import { exampleProfileBatch } from "../examples.ts";
import { operation } from "../operation.ts";
import { readBody } from "../query.ts";
import { BatchResult } from "../resources.ts";
import { ProfileBatch, ProfileBatchItem } from "../schemas.ts";
import { createBatchReader, createReader } from "../../validation.ts";

const batchBody = createBatchReader(ProfileBatch, "profiles");
const batchItem = createReader(ProfileBatchItem);

// A hundred items, one after the other.
const batchTimeoutMs = 30_000;

const batch = operation("profiles:write", {
  id: "upsertProfiles",
  tag: "Profiles",
  summary: "Upsert 1 to 100 profiles",
  description:
    "In order, as if one after the other. A bad item fails alone; the results say what became of each: 201 created, 200 updated or done before " +
    "with the same idempotency_key. If-Match is refused, as it is about one profile.",
  body: [ProfileBatch],
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

export function profileBatchRoutes(app: FastifyInstance, { clients }: NativeContext): void {
  app.post("/profiles/batch", batch, async (request, reply) => {
    const { propertyId } = callerOf(request);
    const body = readBody(request, batchBody);
    const items = body.profiles.map((item, index) =>
      readItem(item, (each) => Object.assign(toUpsertRequest("", batchItem.read(each)), operationOf(request, index))),
    );
    const options = callOptions(callOf(request), batchTimeoutMs);
    const results = await answerItems(
      items,
      async (inputs) =>
        (await calling(clients.profiles.upsertProfiles({ propertyId, items: inputs }, options))).results,
      toItemResult,
    );
    return sendBatch(request, reply, results);
  });
}

function toItemResult({ outcome }: UpsertProfilesResult): Pick<BatchItemResult, "status" | "data"> | DaybookError {
  if (outcome.case === "error") return fromErrorMessage(outcome.value);
  if (outcome.case !== "upserted") throw new Error("an item has no outcome");
  const { profileId, created } = outcome.value;
  return { status: created ? 201 : 200, data: { id: profileId, object: "profile" } };
}
