/**
 * Jobs: many items that are processed in the background, in chunks.
 * - One transaction stores a job, its chunks, and an outbox row that asks for the first chunk.
 * - One transaction finishes a chunk: it stores and counts the results, deletes the items, and asks for the next chunk.
 * - A process that is killed before that leaves the chunk unfinished, and the bus delivers its message again. So each
 *   write of `process` is idempotent: it is an operation whose id is the same each time.
 */
import { create, fromBinary, toBinary, type Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { ErrorSchema } from "#proto/daybook/common/v1/error_pb.ts";
import { JobDueSchema, type JobDue, type JobOrigin } from "#proto/daybook/common/v1/job_pb.ts";
import type { BusHandler } from "../bus/bus.ts";
import { inChunksByProperty, withTransaction, type Transaction } from "../database/postgres.ts";
import type { OutboxRelay } from "../outbox/outbox.ts";
import type { ServiceContext } from "../process/service.ts";
import { toErrorMessage } from "../rpc/errors.ts";
import { Steps } from "../scheduling/steps.ts";
import type { Clock } from "../values/clock.ts";
import { count } from "../values/count.ts";
import { DaybookError } from "../values/errors.ts";
import { decodeId, deriveUuid, encodeId, newUuid, type Uuid } from "../values/ids.ts";
import { checkItemCount } from "../values/limits.ts";
import { formatMicros, type Instant } from "../values/time.ts";
import type { JobErrorStatements, JobRow, JobStatements } from "./sql.ts";

/** The properties of a kind of job. */
export interface JobKind {
  statements: JobStatements;
  /** The bus subject of the messages that ask for a chunk. */
  subject: string;
  /** The jobs' name in errors, in the plural. */
  noun: string;
  itemsMax: number;
  chunkItemsMax: number;
  /** At most so many jobs of a property are unfinished. */
  unfinishedMax: number;
  /** A job is deleted this long after its creation, finished or not. */
  retentionMicros: number;
}

/** A chunk that is being processed. */
export interface JobChunk {
  property: Uuid;
  job: Uuid;
  /** The index of the chunk, from 0. */
  chunk: number;
  /** Returns the id of an operation (`op_…`), the same in each retry of the chunk. `part` is unique in the chunk. */
  operationOf: (part: string) => string;
}

/** An item that was refused. */
export interface RefusedItem<Item> {
  item: Item;
  /** Its index in the job, from 0. */
  index: number;
  error: DaybookError;
}

/** The work of a kind of job. */
export interface JobWork<Item, Result> {
  /** The message that stores the items of a chunk, and the origin of the job. Its other fields stay empty. */
  chunkSchema: GenMessage<Message & { items: Item[]; origin?: JobOrigin | undefined }>;
  /**
   * Checks an item, and fixes values that must be the same in each retry, such as ids and times.
   * @param now when the job is created.
   * @throws DaybookError, which refuses the job.
   */
  readItem: (item: Item, index: number, now: Instant) => Item;
  /**
   * Processes the items of a chunk.
   * @returns the outcome of each, in order.
   * @throws when a dependency is away: the chunk is then retried.
   */
  process: (items: readonly Item[], chunk: JobChunk) => Promise<(Result | DaybookError)[]>;
  /** Stores the results in the transaction that finishes their chunk. */
  store?: (tx: Transaction, chunk: JobChunk, results: readonly Result[]) => Promise<void>;
  /** Stores each refused item, as the caller sent it, with its error. */
  errors?: { statements: JobErrorStatements; originalOf: (item: Item) => string };
  /** Keeps refused items of a job with an origin, in the transaction that finishes their chunk. */
  reject?: (
    tx: Transaction,
    refused: readonly RefusedItem<Item>[],
    of: { chunk: JobChunk; origin: JobOrigin },
  ) => Promise<void>;
  /** Called once a chunk with refused items is finished. */
  onRefused?: (refused: readonly DaybookError[], chunk: JobChunk) => void;
}

/** Jobs of one kind. */
export interface Jobs<Item> {
  /**
   * Creates a job.
   * @returns the job; the stored one if there is one of this id.
   * @throws DaybookError for too many items, bytes or unfinished jobs, and as JobWork.readItem does.
   */
  create: (request: {
    propertyId: string;
    jobId: string;
    items: readonly Item[];
    origin?: JobOrigin | undefined;
  }) => Promise<JobRow>;
  /** Handles the messages that ask for chunks. */
  takeDue: BusHandler;
}

const jobBytesMax = 15 * 1024 * 1024;
// Some jobs are probably finished by then.
const unfinishedRetryMs = 10_000;
const oldJobsMax = 20;

/** Makes the jobs of one kind. */
export function createJobs<Item, Result>(
  { database, clock, relay }: Pick<ServiceContext, "database" | "clock"> & { relay: OutboxRelay },
  kind: JobKind,
  work: JobWork<Item, Result>,
): Jobs<Item> {
  const { statements, subject, noun, itemsMax, chunkItemsMax, unfinishedMax } = kind;
  const { chunkSchema, readItem, process, store, errors, reject, onRefused } = work;

  async function pack(items: readonly Item[], origin: JobOrigin | undefined, now: Instant): Promise<Buffer[]> {
    const payloads: Buffer[] = [];
    const pauses = new Steps();
    for (let from = 0; from < items.length; from += chunkItemsMax) {
      await pauses.next();
      const chunkItems = items.slice(from, from + chunkItemsMax);
      const message = create(chunkSchema);
      message.items = chunkItems.map((item, index) => readItem(item, from + index, now));
      message.origin = origin;
      payloads.push(Buffer.from(toBinary(chunkSchema, message)));
    }
    if (payloads.reduce((sum, { length }) => sum + length, 0) > jobBytesMax) {
      const message = `The items of a job take at most ${jobBytesMax / 1024 / 1024} MiB together.`;
      throw new DaybookError("request_too_large", message, { param: "items" });
    }
    return payloads;
  }

  function askForChunk(tx: Transaction, { property, job }: { property: Uuid; job: Uuid }, chunk: number) {
    const due = create(JobDueSchema, { propertyId: encodeId("prop", property), jobId: encodeId("job", job), chunk });
    return relay.enqueue(tx, property, subject, toBinary(JobDueSchema, due));
  }

  /** Processes a chunk unless it is finished. */
  async function processChunk({ propertyId, jobId, chunk }: JobDue): Promise<void> {
    const property = decodeId("prop", propertyId, "property_id");
    const job = decodeId("job", jobId, "job_id");
    const [row] = await statements.readChunk(database, [property, job, chunk]);
    if (!row) return;
    const operationOf = (part: string): string => encodeId("op", deriveUuid(job, `${chunk} ${part}`));
    const jobChunk: JobChunk = { property, job, chunk, operationOf };
    const { items, origin } = fromBinary(chunkSchema, row.payload);
    const outcomes = await process(items, jobChunk);
    if (outcomes.length !== items.length) throw new Error("not every item of a job has an outcome");
    const results = outcomes.filter((outcome): outcome is Result => !(outcome instanceof DaybookError));
    const refused = outcomes.flatMap((error, index): RefusedItem<Item>[] =>
      error instanceof DaybookError
        ? [{ item: items[index] as Item, index: chunk * chunkItemsMax + index, error }]
        : [],
    );
    const finished = await withTransaction(database, async (tx) => {
      const now = formatMicros(clock.nowMicros());
      const [progress] = await statements.finishChunk(tx, [property, job, chunk, results.length, refused.length, now]);
      if (!progress) return undefined;
      if (store && results.length > 0) await store(tx, jobChunk, results);
      if (errors && refused.length > 0) {
        const rows = refused.map(({ item, index, error }) => ({
          item: index,
          id: newUuid(),
          error: toBinary(ErrorSchema, toErrorMessage(error)),
          original_json: errors.originalOf(item),
        }));
        await errors.statements.insert(tx, [property, job, rows]);
      }
      if (progress.has_next) await askForChunk(tx, jobChunk, chunk + 1);
      // The last, because it locks what all refused writes of the property are counted in.
      if (reject && origin && refused.length > 0) await reject(tx, refused, { chunk: jobChunk, origin });
      return progress;
    });
    if (finished && (finished.has_next || refused.length > 0)) relay.wake();
    const refusals = refused.map(({ error }) => error);
    if (finished && refused.length > 0) onRefused?.(refusals, jobChunk);
  }

  return {
    async create({ propertyId, jobId, items, origin }) {
      checkItemCount(items.length, itemsMax, "items");
      const property = decodeId("prop", propertyId, "property_id");
      const job = decodeId("job", jobId, "job_id");
      const now = formatMicros(clock.nowMicros());
      const payloads = await pack(items, origin, now);
      relay.checkRoom();
      const row = await withTransaction(database, async (tx) => {
        await statements.lock(tx, [property]);
        const oldest = oldestJob(kind, clock);
        const [known] = await statements.find(tx, [property, job, oldest]);
        if (known) return known;
        const [unfinished] = await statements.countUnfinished(tx, [property, oldest, unfinishedMax]);
        if (!unfinished || unfinished.count >= unfinishedMax) {
          const limit = `At most ${count(unfinishedMax)} ${noun} of a property are unfinished at a time.`;
          const message = `${limit} Try again later.`;
          throw new DaybookError("rate_limited", message, { retryAfterMs: unfinishedRetryMs });
        }
        const [created] = await statements.insert(tx, [property, job, items.length, now]);
        if (!created) throw new DaybookError("parameter_conflict", "There was a job of this id.", { param: "job_id" });
        for (const [chunk, payload] of payloads.entries()) {
          await statements.insertChunk(tx, [property, job, chunk, payload]);
        }
        await askForChunk(tx, { property, job }, 0);
        return created;
      });
      relay.wake();
      return row;
    },
    async takeDue(messages) {
      for (const { payload } of messages) await processChunk(fromBinary(JobDueSchema, payload));
    },
  };
}

/** Jobs created up to this instant are past their retention: deleted, or about to be. */
export function oldestJob({ retentionMicros }: JobKind, clock: Clock): Instant {
  return formatMicros(clock.nowMicros() - retentionMicros);
}

/**
 * Finds a job.
 * @throws DaybookError `resource_not_found`, also when its retention is over.
 */
export async function readJob(
  { database, clock }: Pick<ServiceContext, "database" | "clock">,
  kind: JobKind,
  { propertyId, jobId }: { propertyId: string; jobId: string },
): Promise<JobRow> {
  const property = decodeId("prop", propertyId, "property_id");
  const job = decodeId("job", jobId, "job_id");
  const [row] = await kind.statements.find(database, [property, job, oldestJob(kind, clock)]);
  if (!row) throw new DaybookError("resource_not_found", "There is no such job.", { param: "job_id" });
  return row;
}

/** Deletes jobs past their retention, with their chunks and results. */
export async function forgetJobs(
  { database, clock }: Pick<ServiceContext, "database" | "clock">,
  kind: JobKind,
  signal: AbortSignal,
): Promise<void> {
  const oldest = oldestJob(kind, clock);
  const { findOld, deleteOld } = kind.statements;
  await inChunksByProperty(
    oldJobsMax,
    (jobsMax) => findOld(database, [oldest, jobsMax]),
    (property, jobs) => deleteOld(database, [property, oldest, jobs.map(({ id }) => id)]),
    signal,
  );
}
