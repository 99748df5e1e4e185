/** Import jobs write profiles in the background. Each item is an operation, so no item is written twice. */
import { create } from "@bufbuild/protobuf";
import {
  CreateImportJobRequestSchema,
  ImportJobSchema,
  type ImportItem,
  type ImportJob,
  type UpsertProfileRequest,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { createJobs, type JobKind, type Jobs } from "#shared/jobs/jobs.ts";
import { showJob } from "#shared/jobs/listing.ts";
import { toRejectedItem } from "#shared/jobs/rejected-items.ts";
import { settleItems } from "#shared/jobs/settle-items.ts";
import { jobStatements, type JobRow } from "#shared/jobs/sql.ts";
import { textProblem } from "#shared/json/json.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { encodeId, type Uuid } from "#shared/values/ids.ts";
import type { ProfileContext } from "./context.ts";
import { tellRejected } from "./rejections.ts";
import { importErrors, insertImportedProfiles } from "./sql/imports.ts";
import { update } from "./update.ts";
import { upsertMany } from "./upsert-many.ts";

/** What import jobs have in common. */
export const importJobs: JobKind = {
  statements: jobStatements({ jobs: "profile.import_jobs", chunks: "profile.import_chunks" }),
  subject: "daybook.profile.import_due",
  noun: "import jobs",
  itemsMax: 10_000,
  chunkItemsMax: 200,
  unfinishedMax: 100,
  retentionMicros: 7 * 24 * 60 * 60 * 1_000_000,
};

/** The error of an item whose person was erased before it was written: it has no write any more. */
function erasedItem(): DaybookError {
  return new DaybookError("profile_redacted", "The person of this item was erased before it was written.");
}

/** The result of an item is the UUID of its profile. */
export function createImportJobs(context: ProfileContext): Jobs<ImportItem> {
  return createJobs<ImportItem, Uuid>(context, importJobs, {
    chunkSchema: CreateImportJobRequestSchema,
    readItem,
    process(items, { property, operationOf }) {
      for (const [index, { write }] of items.entries()) {
        if (write.case) write.value.operationId = operationOf(`item ${index}`);
      }
      return writeItems(context, property, items);
    },
    async store(tx, { property, job }, profiles) {
      await insertImportedProfiles(tx, [property, job, profiles]);
    },
    errors: { statements: importErrors, originalOf: ({ originalJson }) => originalJson },
    async reject(tx, refused, of) {
      const now = context.clock.nowMicros();
      const writes = refused.map((item) => toRejectedItem(item, { ...of, now }, item.item.originalJson));
      await tellRejected(context, tx, of.chunk.property, writes);
    },
  });
}

function readItem(item: ImportItem, index: number): ImportItem {
  if (item.write.case === undefined) {
    const message = "An item has an upsert or an update.";
    throw new DaybookError("parameter_missing", message, { param: `items.${index}` });
  }
  const problem = textProblem(item.originalJson);
  if (problem !== undefined) {
    const message = `The original_json ${problem}.`;
    throw new DaybookError("parameter_invalid", message, { param: `items.${index}.original_json` });
  }
  return item;
}

export function toImportJob(row: JobRow): ImportJob {
  return create(ImportJobSchema, showJob(row, importJobs));
}

/** Writes items in order; neighbouring upserts are written together. */
async function writeItems(
  context: ProfileContext,
  property: Uuid,
  items: readonly ImportItem[],
): Promise<(Uuid | DaybookError)[]> {
  const { log } = context;
  const outcomes: (Uuid | DaybookError)[] = [];
  let together: UpsertProfileRequest[] = [];
  const flush = async (): Promise<void> => {
    outcomes.push(...(await settleItems(log, together, (requests) => upsertAll(context, property, requests))));
    together = [];
  };
  for (const { write } of items) {
    if (write.case === "upsert") {
      together.push(write.value);
      continue;
    }
    await flush();
    if (write.case !== "update") {
      outcomes.push(erasedItem());
      continue;
    }
    const request = { ...write.value, propertyId: encodeId("prop", property) };
    outcomes.push(...(await settleItems(log, [request], async () => [(await update(context, request)).row.id])));
  }
  await flush();
  return outcomes;
}

async function upsertAll(
  context: ProfileContext,
  property: Uuid,
  requests: readonly UpsertProfileRequest[],
): Promise<(Uuid | DaybookError)[]> {
  return (await upsertMany(context, property, requests, false)).map((outcome) => {
    if (outcome === "contended") throw new Error("an item was not settled");
    return outcome instanceof DaybookError ? outcome : outcome.row.id;
  });
}
