/** Stores resolved events, each once, with the outbox rows that announce them. */
import { create, toBinary } from "@bufbuild/protobuf";
import { AnonymousEventsRecordedSchema, EventsRecordedSchema, type Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { DaybookError } from "#shared/values/errors.ts";
import { encodeId, newUuid, type Uuid } from "#shared/values/ids.ts";
import { withTransaction, type Database } from "#shared/database/postgres.ts";
import { isRefused, isTransient, isUniqueViolation } from "#shared/database/failures.ts";
import { withTrace } from "#shared/tracing/messages.ts";
import { formatMicros } from "#shared/values/time.ts";
import { claimAll, hasKeys, releaseAll, toClaims } from "./dedupe.ts";
import type { ResolvedEvent } from "./domain/resolved.ts";
import { toEvent, toRow } from "./mapping.ts";
import { claimRequests, requestHeld, toRequests, type Requests } from "./requests.ts";
import { insertEvents, insertEventsWithKeys, type Insertion, type NewEventRow } from "./sql/events.ts";

/** An event in each of its forms. */
interface Draft {
  item: ResolvedEvent;
  row: NewEventRow;
  event: Event;
}

// The bus takes messages of up to 1 MB.
const messageBytesMax = 960 * 1024;
// An event without its properties, dedupe_id and metric name.
const otherFieldsBytesMax = 450;
/** The subject of messages that announce events. */
export const recordedSubject = "daybook.event.recorded";
/** The subject of messages that announce anonymous events. */
export const anonymousSubject = "daybook.event.anonymous";

/** A row of the outbox. */
interface Message {
  id: Uuid;
  subject: string;
  payload: Buffer;
}

/**
 * Stores events in one transaction.
 * @returns for each item, in order, the event; undefined when one of its keys is held by another event, and
 * `idempotency_key_in_use` when that of its request is held.
 */
export async function storeEvents(
  { database, requests }: { database: Database; requests?: Requests | undefined },
  property: Uuid,
  items: readonly ResolvedEvent[],
  now: Micros,
): Promise<(Event | DaybookError | undefined)[]> {
  const drafts = items.map((item): Draft => {
    const row = toRow(item, now);
    return { item, row, event: toEvent(row) };
  });
  try {
    await insertAll(database, requests, property, drafts, now);
    return drafts.map(({ event }) => event);
  } catch (error) {
    // One of the keys is held, or has expired; or a deadlock, as the order of claims is another below; or the tables of
    // identity are spread in another way than those of events.
    const mayRetry = isUniqueViolation(error) || isTransient(error) || isRefused(error);
    if (!mayRetry || !items.some((item) => hasKeys(item) || item.request)) throw error;
  }
  return withTransaction(database, async (tx) => {
    const granted = await claimAll(tx, property, drafts.map(toClaimant), now);
    const first = drafts.filter((_, index) => granted[index]);
    const held = await claimRequests(requests, tx, property, first, now);
    await releaseAll(
      tx,
      property,
      [...held].map(({ item }) => item),
    );
    const free = first.filter((draft) => !held.has(draft));
    if (free.length > 0) await insertEvents(tx, toInsertion(property, free, now));
    return drafts.map((draft, index) => {
      if (held.has(draft)) return requestHeld();
      return granted[index] ? draft.event : undefined;
    });
  });
}

/** Inserts events and claims their keys in one statement. It fails as a whole if one of the keys is held. */
async function insertAll(
  database: Database,
  requests: Requests | undefined,
  property: Uuid,
  drafts: readonly Draft[],
  now: Micros,
): Promise<void> {
  const insertion = toInsertion(property, drafts, now);
  const keys = toClaims(drafts.filter(({ item }) => hasKeys(item)).map(toClaimant), now);
  const claimed = requests ? requests.toRows(toRequests(drafts), now) : [];
  if (requests && claimed.length > 0) await requests.insertWithEvents(database, [...insertion, keys, claimed]);
  else if (keys.length > 0) await insertEventsWithKeys(database, [...insertion, keys]);
  else await insertEvents(database, insertion);
}

function toClaimant({ item, row }: Draft): ResolvedEvent & { id: Uuid } {
  return { ...item, id: row.id };
}

/** The parameters of the statements that insert events. */
function toInsertion(property: Uuid, drafts: readonly Draft[], now: Micros): Insertion {
  // The message contains the metric name; the table does not.
  const events = drafts.map(({ item: { metricName }, event }) =>
    metricName === undefined ? event : { ...event, metricName },
  );
  const anonymous = drafts.filter(({ item }) => item.identifier !== null).map(({ event }) => event.id);
  const messages = [...toMessages(property, events), ...anonymousMessages(property, anonymous)];
  const rows = drafts.map(({ row }) => row);
  return [property, formatMicros(now), rows, messages];
}

/** Packs events into as few messages as their size allows. */
function toMessages(property: Uuid, events: readonly Event[]): Message[] {
  const groups: Event[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const event of events) {
    const texts = [event.propertiesJson, event.dedupeId ?? "", event.metricName ?? ""];
    const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text), otherFieldsBytesMax);
    if (bytes + size > messageBytesMax) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(event);
    bytes += size;
  }
  return groups.map((group) => {
    const id = newUuid();
    const message = create(EventsRecordedSchema, {
      batchId: id,
      propertyId: encodeId("prop", property),
      events: group,
    });
    return { id, subject: recordedSubject, payload: withTrace(toBinary(EventsRecordedSchema, message)) };
  });
}

/** The message contains ids only, so that identifiers stay in their rows. */
function anonymousMessages(property: Uuid, eventIds: string[]): Message[] {
  if (eventIds.length === 0) return [];
  const message = create(AnonymousEventsRecordedSchema, { propertyId: encodeId("prop", property), eventIds });
  const payload = withTrace(toBinary(AnonymousEventsRecordedSchema, message));
  return [{ id: newUuid(), subject: anonymousSubject, payload }];
}
