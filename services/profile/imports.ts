/**
 * Import jobs: what is done of a job and when. A job is cut into chunks, and a message over the bus asks for one. What became of a chunk, the
 * counts and the message for the next are one transaction; a chunk that is done has no payload any more, and is not done again. Should a process
 * end before that, the chunk comes again; each of its items is an operation, and those that are done are not done again.
 */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ErrorSchema } from "#proto/daybook/common/v1/error_pb.ts";
import {
  CreateImportJobRequestSchema,
  ImportDueSchema,
  ImportJobSchema,
  ImportJobStatus,
  type ImportDue,
  type ImportItem,
  type ImportJob,
  type UpsertProfileRequest,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { isAway } from "#shared/bus/delivery.ts";
import { DaybookError, internalError } from "#shared/values/errors.ts";
import { toErrorMessage } from "#shared/rpc/errors.ts";
import { decodeId, deriveUuid, encodeId, newUuid, type Uuid } from "#shared/values/ids.ts";
import { inChunks, withTransaction, type Transaction } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros, toTimestamp, type Instant } from "#shared/values/time.ts";
import type { ProfileContext } from "./context.ts";
import {
  advanceImportJob,
  deleteImportJob,
  deletePartsOfJob,
  emptyImportErrors,
  findImportJob,
  findOldJobs,
  finishChunk,
  insertImportedProfiles,
  insertImportErrors,
  readChunk,
  type ImportJobRow,
} from "./sql/imports.ts";
import { insertMessages } from "./sql/outbox.ts";
import { update } from "./update.ts";
import { upsertMany, type UpsertOutcome } from "./upsert-many.ts";

/** The subject of messages that ask for a chunk. */
export const importSubject = "daybook.profile.import_due";
/** Items of a chunk. */
export const chunkItemsMax = 200;

const jobAgeMaxMicros = 7 * 24 * 60 * 60 * 1_000_000;
const oldJobsMax = 100;
const rowsMax = 5_000;

/** Before that was made what is forgotten by now. */
export function oldestJob(now: Micros): Instant {
  return formatMicros(now - jobAgeMaxMicros);
}

export function toImportJob(row: ImportJobRow): ImportJob {
  const status =
    row.started_at === null
      ? ImportJobStatus.QUEUED
      : row.completed_at === null
        ? ImportJobStatus.PROCESSING
        : ImportJobStatus.COMPLETE;
  return create(ImportJobSchema, {
    id: encodeId("job", row.id),
    status,
    totalCount: row.total_count,
    completedCount: row.completed_count,
    failedCount: row.failed_count,
    createdAt: toTimestamp(row.created_at),
    startedAt: toTimestamp(row.started_at),
    completedAt: toTimestamp(row.completed_at),
    expiresAt: toTimestamp(row.created_at + jobAgeMaxMicros),
  });
}

/**
 * Finds a job.
 * @throws DaybookError `resource_not_found`, also for one that is forgotten.
 */
export async function readJob({ database, clock }: ProfileContext, property: Uuid, job: Uuid): Promise<ImportJobRow> {
  const [row] = await findImportJob(database, [property, job, oldestJob(clock.nowMicros())]);
  if (!row) throw new DaybookError("resource_not_found", "There is no such job.", { param: "job_id" });
  return row;
}

/** Asks for a chunk of a job, once the transaction is committed. */
export async function askForChunk(tx: Transaction, property: Uuid, job: Uuid, chunk: number): Promise<void> {
  const due = create(ImportDueSchema, { propertyId: encodeId("prop", property), jobId: encodeId("job", job), chunk });
  const payload = Buffer.from(toBinary(ImportDueSchema, due));
  await insertMessages(tx, [property, [newUuid()], importSubject, [payload], [0]]);
}

/** Does a chunk, unless it is done. */
export async function importChunk(context: ProfileContext, { propertyId, jobId, chunk }: ImportDue): Promise<void> {
  const { database, clock, relay } = context;
  const property = decodeId("prop", propertyId, "property_id");
  const job = decodeId("job", jobId, "job_id");
  const [row] = await readChunk(database, [property, job, chunk]);
  if (!row) return;
  const { items } = fromBinary(CreateImportJobRequestSchema, row.payload);
  for (const [index, { write }] of items.entries()) {
    const part = `item ${chunk * chunkItemsMax + index}`;
    if (write.case) write.value.operationId = encodeId("op", deriveUuid(job, part));
  }
  const outcomes = await writeItems(context, property, items);
  const profiles = outcomes.filter((outcome) => typeof outcome === "string");
  const failures = outcomes.flatMap((error, index) => {
    const item = items[index];
    return error instanceof DaybookError && item ? [{ error, item: chunk * chunkItemsMax + index, came: item }] : [];
  });
  const hasNext = await withTransaction(database, async (tx) => {
    const [finished] = await finishChunk(tx, [property, job, chunk]);
    if (!finished) return false;
    if (profiles.length > 0) await insertImportedProfiles(tx, [property, job, profiles]);
    if (failures.length > 0) {
      await insertImportErrors(tx, [
        property,
        job,
        failures.map(({ item }) => item),
        failures.map(newUuid),
        failures.map(({ error }) => Buffer.from(toBinary(ErrorSchema, toErrorMessage(error)))),
        failures.map(({ came }) => came.originalJson),
      ]);
    }
    const now = formatMicros(clock.nowMicros());
    const [advanced] = await advanceImportJob(tx, [property, job, profiles.length, failures.length, now]);
    if (!advanced || chunk + 1 >= advanced.chunk_count) return false;
    await askForChunk(tx, property, job, chunk + 1);
    return true;
  });
  if (hasNext) relay.wake();
}

/** The id of the profile that was written, or why none was. */
type ItemOutcome = Uuid | DaybookError;

/** Writes items in order; neighbours that are upserts go together. */
async function writeItems(
  context: ProfileContext,
  property: Uuid,
  items: readonly ImportItem[],
): Promise<ItemOutcome[]> {
  const outcomes: ItemOutcome[] = [];
  let together: UpsertProfileRequest[] = [];
  const flush = async (): Promise<void> => {
    const requests = together;
    together = [];
    if (requests.length > 0) outcomes.push(...(await upsertAll(context, property, requests)));
  };
  for (const { write } of items) {
    if (write.case === "upsert") {
      together.push(write.value);
      continue;
    }
    await flush();
    if (write.case !== "update") throw new Error("an item of a job says nothing");
    const request = { ...write.value, propertyId: encodeId("prop", property) };
    outcomes.push(await settle(context, async () => (await update(context, request)).row.id));
  }
  await flush();
  return outcomes;
}

async function upsertAll(
  context: ProfileContext,
  property: Uuid,
  requests: readonly UpsertProfileRequest[],
): Promise<ItemOutcome[]> {
  const toOutcome = (outcome: UpsertOutcome | undefined): ItemOutcome => {
    if (outcome === undefined || outcome === "contended") throw new Error("an item was not settled");
    // What may be otherwise later is no outcome: all of them come again.
    if (outcome instanceof DaybookError && isAway(outcome)) throw outcome;
    return outcome instanceof DaybookError ? outcome : outcome.row.id;
  };
  try {
    return (await upsertMany(context, property, requests, false)).map(toOutcome);
  } catch (error) {
    if (error instanceof Error && isAway(error)) throw error;
    context.log.warn({ err: error }, "items of a job failed together and are written one by one");
  }
  const outcomes: ItemOutcome[] = [];
  for (const request of requests) {
    const one = async (): Promise<ItemOutcome> => toOutcome((await upsertMany(context, property, [request], false))[0]);
    outcomes.push(await settle(context, one));
  }
  return outcomes;
}

/** Does what may be refused. What nobody foresaw fails its item alone, so that a job comes to its end. */
async function settle({ log }: ProfileContext, work: () => Promise<ItemOutcome>): Promise<ItemOutcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && isAway(error)) throw error;
    if (error instanceof DaybookError) return error;
    log.error({ err: error }, "an item of a job failed");
    return internalError(error);
  }
}

/** Empties what is kept of refused items that name somebody by any of some identifiers. */
export async function emptyImportErrorsOf(
  tx: Transaction,
  property: Uuid,
  identifiers: readonly { type: string; value: string }[],
): Promise<void> {
  const phones = identifiers.flatMap(({ type, value }) => (type === "phone" ? [value] : []));
  const others = identifiers.flatMap(({ type, value }) =>
    type === "phone" ? [] : [JSON.stringify(value).slice(1, -1).toLowerCase()],
  );
  if (identifiers.length > 0) await emptyImportErrors(tx, [property, others, phones]);
}

/** Forgets jobs whose time is over, with all that is kept of them. */
export async function forgetImportJobs({ database, clock }: ServiceContext, signal: AbortSignal): Promise<void> {
  const before = oldestJob(clock.nowMicros());
  await inChunks(
    oldJobsMax,
    async (jobsMax) => {
      const jobs = await findOldJobs(database, [before, jobsMax]);
      for (const { property_id: property, id } of jobs) {
        for (const deletePart of deletePartsOfJob) {
          await inChunks(rowsMax, (rows) => deletePart(database, [property, id, rows]), signal);
        }
        // What is left when there is no time goes with the next round.
        if (signal.aborted) return [];
        await deleteImportJob(database, [property, id]);
      }
      return jobs;
    },
    signal,
  );
}
