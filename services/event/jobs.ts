/**
 * Jobs of events. A chunk writes its profiles, then its events. An event gets its id when the job is created, and each
 * write of a profile is an operation, so a chunk that is processed again records nothing twice.
 */
import { create, toBinary } from "@bufbuild/protobuf";
import { Counter } from "prom-client";
import {
  CreateEventJobRequestSchema,
  EventJobItemSchema,
  type EventInput,
  type EventJobItem,
} from "#proto/daybook/event/v1/event_pb.ts";
import {
  ProfileReferenceSchema,
  UpsertProfileRequestSchema,
  type UpsertProfileRequest,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { createJobs, type JobChunk, type JobKind, type Jobs } from "#shared/jobs/jobs.ts";
import { toRejectedItem } from "#shared/jobs/rejected-items.ts";
import { settleItems } from "#shared/jobs/settle-items.ts";
import { jobStatements } from "#shared/jobs/sql.ts";
import type { Log } from "#shared/process/log.ts";
import { metricOf } from "#shared/process/metrics.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { fromErrorMessage } from "#shared/rpc/errors.ts";
import { encodeId, newId } from "#shared/values/ids.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import type { EventContext } from "./context.ts";
import { readWrite } from "./domain/rejections.ts";
import { sentItem } from "./domain/sent-item.ts";
import { countRejected, reject } from "./rejecting.ts";
import { eventJobErrors } from "./sql/job-errors.ts";
import { ingest, type Outcome } from "./ingest.ts";

/** What jobs of events have in common. */
export const eventJobs: JobKind = {
  statements: jobStatements({ jobs: "event.jobs", chunks: "event.job_chunks" }),
  subject: "daybook.event.job_due",
  noun: "jobs",
  itemsMax: 1000,
  chunkItemsMax: 200,
  unfinishedMax: 1000,
  retentionMicros: 7 * 24 * 60 * 60 * 1_000_000,
};

const shownTypeLengthMax = 255;
const upsertItemsMax = 100;
// Storing this much takes some tens of milliseconds.
const groupBytesMax = 1024 * 1024;
const ownCall = systemCall("event");

export function createEventJobs(context: EventContext): Jobs<EventJobItem> {
  const { log, registry } = context;
  const refusedItems = metricOf(registry, Counter, {
    name: "daybook_event_job_items_refused_total",
    help: "Items of jobs of events that were refused.",
    labelNames: ["code"],
  });
  const noteRejected = countRejected(registry);
  return createJobs<EventJobItem, Outcome>(context, eventJobs, {
    chunkSchema: CreateEventJobRequestSchema,
    readItem,
    process: (items, chunk) => recordItems(context, items, chunk),
    errors: { statements: eventJobErrors, originalOf: ({ event }) => JSON.stringify(shownType(event?.type ?? "")) },
    async reject(tx, refused, of) {
      const now = context.clock.nowMicros();
      const { property } = of.chunk;
      const writes = refused.map((item) => {
        const { event } = item.item;
        return readWrite(toRejectedItem(item, { ...of, now }, sentItem(item.item), event?.type));
      });
      const { counted, kept } = await reject(tx, context, property, writes, undefined);
      noteRejected("kept", kept);
      noteRejected("counted", counted - kept);
    },
    onRefused(refused, { job, chunk }) {
      const byCode = Map.groupBy(refused, ({ code }) => code);
      const codes = Object.fromEntries([...byCode].map(([code, errors]) => [code, errors.length]));
      for (const [code, count] of Object.entries(codes)) refusedItems.inc({ code }, count);
      const jobId = encodeId("job", job);
      log.warn({ jobId, chunk, refused: refused.length, codes }, "items of a job of events were refused");
    },
  });
}

/** A type as errors show it: it may be what was refused. */
function shownType(type: string): string {
  return type.slice(0, shownTypeLengthMax);
}

/** Fixes the id of an item's event, its time unless the item has one, and the operation of the update. */
function readItem({ event, profile, update }: EventJobItem, index: number, now: string): EventJobItem {
  if (!event) {
    throw new DaybookError("parameter_missing", "An item has an event.", { param: `items.${index}.event` });
  }
  return create(EventJobItemSchema, {
    event: { ...event, operationId: newId("op"), operationIsNew: false, occurredAt: event.occurredAt ?? now },
    profile: profile && { ...profile, operationId: undefined },
    update: update && { ...update, operationId: newId("op") },
  });
}

async function recordItems(
  context: EventContext,
  items: readonly EventJobItem[],
  { property, operationOf }: JobChunk,
): Promise<Outcome[]> {
  const propertyId = encodeId("prop", property);
  await updateProfiles(context, propertyId, items);
  const owners = await writeProfiles(context, propertyId, items, operationOf);
  const wanted = items.map(({ event }, index): EventInput | DaybookError => {
    if (!event) return erasedItem();
    const owner = owners[index];
    if (owner instanceof DaybookError) return owner;
    if (owner !== undefined && event.profile?.reference.case === undefined) {
      event.profile = create(ProfileReferenceSchema, { reference: { case: "profileId", value: owner } });
    }
    return event;
  });
  const recorded: Outcome[] = [];
  for (const group of groupBySize(wanted.flatMap((event) => (event instanceof DaybookError ? [] : [event])))) {
    const settled = await settleItems(context.log, group, (events) => ingest(context, property, events, ownCall));
    recorded.push(...settled);
  }
  const outcomes = recorded.values();
  return wanted.map((event) => (event instanceof DaybookError ? event : (outcomes.next().value as Outcome)));
}

/** The error of an item whose person was erased before it was recorded: it has no event any more. */
function erasedItem(): DaybookError {
  return new DaybookError("profile_redacted", "The person of this item was erased before it was recorded.");
}

/** Groups events in order, so that storing one group does not delay other requests for long. */
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

/** Updates the profiles that items name by id. A refused update does not drop its event, which was accepted. */
async function updateProfiles(
  { profiles, log }: EventContext,
  propertyId: string,
  items: readonly EventJobItem[],
): Promise<void> {
  const outcomes: unknown[] = [];
  for (const { update } of items) {
    if (!update) continue;
    const request = { ...update, propertyId };
    outcomes.push(...(await settleItems(log, [request], async () => [await profiles.updateProfile(request, ownCall)])));
  }
  logRefused(log, outcomes);
}

/**
 * Upserts the profiles of items in order; equal neighbours are one write. Some writes are refused only here, such as
 * too many attributes. The event was accepted, so its profile is then upserted with the identifiers alone.
 * @returns the id of each profile, or why there is none.
 */
async function writeProfiles(
  context: EventContext,
  propertyId: string,
  items: readonly EventJobItem[],
  operationOf: (part: string) => string,
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
  const upserted = await upsertAll(context, propertyId, requests);
  logRefused(context.log, upserted);
  const refused = requests.filter((_request, index) => upserted[index] instanceof DaybookError);
  const again = (await upsertAll(context, propertyId, refused.map(onlyIdentifiers))).values();
  const owners = upserted.map((outcome) => (outcome instanceof DaybookError ? again.next().value : outcome));
  return requestOf.map((index) => (index === undefined ? undefined : owners[index]));
}

function logRefused(log: Log, outcomes: readonly unknown[]): void {
  const refused = outcomes.filter((outcome) => outcome instanceof DaybookError);
  if (refused.length === 0) return;
  const codes = [...new Set(refused.map(({ code }) => code))];
  log.warn({ profiles: refused.length, codes }, "what events of a job say of their profiles was refused");
}

function onlyIdentifiers({ propertyId, identifiers, source, preferFirst }: UpsertProfileRequest): UpsertProfileRequest {
  return create(UpsertProfileRequestSchema, { propertyId, identifiers, source, preferFirst });
}

async function upsertAll(
  context: EventContext,
  propertyId: string,
  requests: readonly UpsertProfileRequest[],
): Promise<(string | DaybookError)[]> {
  const upserted: (string | DaybookError)[] = [];
  for (let from = 0; from < requests.length; from += upsertItemsMax) {
    const chunk = requests.slice(from, from + upsertItemsMax);
    const outcomes = await settleItems(context.log, chunk, async (part) => {
      const { results } = await context.profiles.upsertProfiles({ propertyId, items: [...part] }, ownCall);
      return results.map(({ outcome }) => {
        if (outcome.case === "upserted") return outcome.value.profileId;
        if (outcome.case === "error") return fromErrorMessage(outcome.value);
        throw new Error("a profile was not settled");
      });
    });
    upserted.push(...outcomes);
  }
  return upserted;
}
