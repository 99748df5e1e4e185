/**
 * Jobs of events. A job is cut into chunks, and a message over the bus asks for one: its profiles are written, then its events. Each event has
 * its id from when the job was made, so one that is recorded is not recorded again, however often its chunk is begun; so it is with writes of
 * profiles, each of which is an operation. That a chunk is done, and the message for the next, are one transaction.
 */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import { Counter, type Registry } from "prom-client";
import {
  CreateEventJobRequestSchema,
  EventJobDueSchema,
  type EventInput,
  type EventJobDue,
  type EventJobItem,
} from "#proto/daybook/event/v1/event_pb.ts";
import {
  ProfileReferenceSchema,
  UpsertProfileRequestSchema,
  type UpsertProfileRequest,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { isAway } from "#shared/bus/delivery.ts";
import { DaybookError, internalError } from "#shared/values/errors.ts";
import { fromErrorMessage } from "#shared/rpc/errors.ts";
import { decodeId, deriveUuid, encodeId, newUuid, type Uuid } from "#shared/values/ids.ts";
import { calling, callOptions } from "#shared/rpc/interceptors.ts";
import { inChunks, withTransaction, type Transaction } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { EventContext } from "./context.ts";
import { ingest, type Outcome } from "./ingest.ts";
import { advanceJob, deleteJobs, findOldJobs, finishChunk, readChunk } from "./sql/jobs.ts";
import { insertMessage } from "./sql/outbox.ts";

/** The subject of messages that ask for a chunk. */
export const jobSubject = "daybook.event.job_due";
/** Items of a chunk. */
export const chunkItemsMax = 200;

const upsertItemsMax = 100;
// Recording so many takes some tens of milliseconds at a time.
const groupBytesMax = 1024 * 1024;
const jobAgeMaxMicros = 7 * 24 * 60 * 60 * 1_000_000;
const oldJobsMax = 50;

/** Asks for a chunk of a job, once the transaction is committed. */
export async function askForChunk(tx: Transaction, property: Uuid, job: Uuid, chunk: number): Promise<void> {
  const due = create(EventJobDueSchema, { propertyId: encodeId("prop", property), jobId: encodeId("job", job), chunk });
  await insertMessage(tx, [property, newUuid(), jobSubject, Buffer.from(toBinary(EventJobDueSchema, due))]);
}

/** Does a chunk, unless it is done. */
export async function recordChunk(context: EventContext, { propertyId, jobId, chunk }: EventJobDue): Promise<void> {
  const { database, clock, relay, log, registry } = context;
  const property = decodeId("prop", propertyId, "property_id");
  const job = decodeId("job", jobId, "job_id");
  const [row] = await readChunk(database, [property, job, chunk]);
  if (!row) return;
  const { items } = fromBinary(CreateEventJobRequestSchema, row.payload);
  const operationOf = (part: string): string => encodeId("op", deriveUuid(job, `${chunk} ${part}`));
  const refused = await recordItems(context, propertyId, items, operationOf);
  const { isDone, hasNext } = await withTransaction(database, async (tx) => {
    const [finished] = await finishChunk(tx, [property, job, chunk]);
    if (!finished) return { isDone: false, hasNext: false };
    const [advanced] = await advanceJob(tx, [property, job, chunk, formatMicros(clock.nowMicros())]);
    const { has_next: isMore = false } = advanced ?? {};
    if (isMore) await askForChunk(tx, property, job, chunk + 1);
    return { isDone: true, hasNext: isMore };
  });
  if (hasNext) relay.wake();
  if (!isDone || refused.length === 0) return;
  const byCode = Map.groupBy(refused, ({ code }) => code);
  const codes = Object.fromEntries([...byCode].map(([code, some]) => [code, some.length]));
  for (const [code, count] of Object.entries(codes)) refusedItems(registry).inc({ code }, count);
  log.warn({ jobId, chunk, refused: refused.length, codes }, "items of a job of events were refused");
}

/**
 * @param operationOf the id of the operation that a part of the chunk is, the same however often the chunk comes.
 * @returns why items were refused.
 */
async function recordItems(
  context: EventContext,
  propertyId: string,
  items: readonly EventJobItem[],
  operationOf: (part: string) => string,
): Promise<DaybookError[]> {
  const options = callOptions({ requestId: "", caller: "event" });
  const refused: DaybookError[] = [];
  const wanted: EventInput[] = [];
  await updateProfiles(context, propertyId, items, options);
  const owners = await writeProfiles(context, propertyId, items, operationOf, options);
  for (const [index, { event }] of items.entries()) {
    if (!event) throw new Error("an item of a job has no event");
    const owner = owners[index];
    if (owner instanceof DaybookError) {
      refused.push(owner);
      continue;
    }
    const saysWhose = event.profile?.reference.case !== undefined;
    if (owner !== undefined && !saysWhose) {
      event.profile = create(ProfileReferenceSchema, { reference: { case: "profileId", value: owner } });
    }
    wanted.push(event);
  }
  for (const group of groupBySize(wanted)) {
    const outcomes = await inParts<EventInput, Outcome>(context, group, (some) =>
      ingest(context, decodeId("prop", propertyId, "property_id"), some, options),
    );
    for (const outcome of outcomes) if (outcome instanceof DaybookError) refused.push(outcome);
  }
  return refused;
}

/** Events in order, in groups that are recorded without keeping others waiting for long. */
function groupBySize(events: readonly EventInput[]): EventInput[][] {
  const groups: EventInput[][] = [];
  let bytes = Infinity;
  for (const event of events) {
    bytes += event.propertiesJson.length;
    if (bytes > groupBytesMax) {
      groups.push([]);
      bytes = event.propertiesJson.length;
    }
    groups.at(-1)?.push(event);
  }
  return groups;
}

/** Writes what items say of profiles by their ids. What is refused of it keeps no event from being recorded, as the event was accepted. */
async function updateProfiles(
  { profiles, log }: EventContext,
  propertyId: string,
  items: readonly EventJobItem[],
  options: CallOptions,
): Promise<void> {
  const codes: string[] = [];
  for (const { update } of items) {
    if (!update) continue;
    try {
      await calling(profiles.updateProfile({ ...update, propertyId }, options));
    } catch (error) {
      if (!(error instanceof DaybookError) || isAway(error)) throw error;
      codes.push(error.code);
    }
  }
  if (codes.length === 0) return;
  log.warn(
    { profiles: codes.length, codes: [...new Set(codes)] },
    "what events of a job say of their profiles was refused",
  );
}

/**
 * Writes the profiles of items in order; neighbours that say the same are one write. What is said of a profile may be refused only here, such as
 * more attributes than it has room for: the event was accepted, and is recorded all the same.
 * @returns the id of each, or why it was refused.
 */
async function writeProfiles(
  context: EventContext,
  propertyId: string,
  items: readonly EventJobItem[],
  operationOf: (part: string) => string,
  options: CallOptions,
): Promise<(string | DaybookError | undefined)[]> {
  const requests: UpsertProfileRequest[] = [];
  const requestOf: (number | undefined)[] = [];
  let before = "";
  for (const { profile } of items) {
    if (!profile) {
      requestOf.push(undefined);
      continue;
    }
    const text = Buffer.from(toBinary(UpsertProfileRequestSchema, profile)).toString("base64");
    if (text !== before) requests.push({ ...profile, operationId: operationOf(`profile ${requests.length}`) });
    before = text;
    requestOf.push(requests.length - 1);
  }
  const upserted = await upsertAll(context, propertyId, requests, options);
  const again = requests.flatMap((request, index) => {
    const outcome = upserted[index];
    return outcome instanceof DaybookError ? [{ index, code: outcome.code, known: onlyIdentifiers(request) }] : [];
  });
  if (again.length > 0) {
    const owners = await upsertAll(
      context,
      propertyId,
      again.map(({ known }) => known),
      options,
    );
    for (const [at, owner] of owners.entries()) {
      const { index } = again[at] ?? {};
      if (index !== undefined) upserted[index] = owner;
    }
    const codes = [...new Set(again.map(({ code }) => code))];
    context.log.warn({ profiles: again.length, codes }, "what events of a job say of their profiles was refused");
  }
  return requestOf.map((index) => (index === undefined ? undefined : upserted[index]));
}

/** An upsert of whose something is, and nothing more. */
function onlyIdentifiers({ propertyId, identifiers, source, preferFirst }: UpsertProfileRequest): UpsertProfileRequest {
  return create(UpsertProfileRequestSchema, { propertyId, identifiers, source, preferFirst });
}

async function upsertAll(
  context: EventContext,
  propertyId: string,
  requests: readonly UpsertProfileRequest[],
  options: CallOptions,
): Promise<(string | DaybookError)[]> {
  const upserted: (string | DaybookError)[] = [];
  for (let from = 0; from < requests.length; from += upsertItemsMax) {
    const some = requests.slice(from, from + upsertItemsMax);
    upserted.push(
      ...(await inParts<UpsertProfileRequest, string | DaybookError>(context, some, async (part) => {
        const { results } = await calling(context.profiles.upsertProfiles({ propertyId, items: [...part] }, options));
        return results.map(({ outcome }) => {
          if (outcome.case === "upserted") return outcome.value.profileId;
          if (outcome.case === "error") return fromErrorMessage(outcome.value);
          throw new Error("a profile was not settled");
        });
      })),
    );
  }
  return upserted;
}

/**
 * Does the work for all items together. When that fails for what nobody foresaw it is done one by one, so that a bad item fails alone and a job
 * comes to its end; what may be otherwise later is thrown, and all of the chunk comes again.
 */
async function inParts<Item, Result>(
  context: EventContext,
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<Result[]>,
): Promise<(Result | DaybookError)[]> {
  if (items.length === 0) return [];
  try {
    const results = await work(items);
    for (const result of results) if (result instanceof DaybookError && isAway(result)) throw result;
    return results;
  } catch (error) {
    if (error instanceof Error && isAway(error)) throw error;
    context.log.error({ err: error, items: items.length }, "items of a job of events failed");
    if (items.length === 1) return [error instanceof DaybookError ? error : internalError(error)];
  }
  const results: (Result | DaybookError)[] = [];
  for (const item of items) results.push(...(await inParts(context, [item], work)));
  return results;
}

/** One counter for all services of a process. */
function refusedItems(registry: Registry): Counter {
  const name = "daybook_event_job_items_refused_total";
  const known = registry.getSingleMetric(name);
  if (known) return known as Counter;
  const help = "Items of jobs of events that were refused.";
  return new Counter({ name, help, labelNames: ["code"], registers: [registry] });
}

/** Forgets jobs whose time is over. */
export async function forgetJobs({ database, clock }: ServiceContext, signal: AbortSignal): Promise<void> {
  const before = formatMicros(clock.nowMicros() - jobAgeMaxMicros);
  await inChunks(
    oldJobsMax,
    async (jobsMax) => {
      const jobs = await findOldJobs(database, [before, jobsMax]);
      const properties = jobs.map(({ property_id }) => property_id);
      if (jobs.length > 0) await deleteJobs(database, [properties, jobs.map(({ id }) => id)]);
      return jobs;
    },
    signal,
  );
}
