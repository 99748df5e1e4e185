/** Stores resolved events, each once, with the outbox rows that announce them. */
import { create, toBinary } from "@bufbuild/protobuf";
import { AnonymousEventsRecordedSchema, EventsRecordedSchema, type Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { DaybookError } from "#shared/values/errors.ts";
import { encodeId, newUuid, type Uuid } from "#shared/values/ids.ts";
import type { RequestClaims } from "#shared/once/request-claims.ts";
import { withTransaction, type Database, type Queryable } from "#shared/database/postgres.ts";
import { withTrace } from "#shared/tracing/messages.ts";
import { formatMicros } from "#shared/values/time.ts";
import { claimAll, hasKeys, releaseAll } from "./dedupe.ts";
import type { ResolvedEvent } from "./domain/resolved.ts";
import { toEvent } from "./mapping.ts";
import { claimRequests, requestHeld } from "./requests.ts";
import { insertEvents, type EventRow } from "./sql/events.ts";

/** An event in each of its forms. */
interface Draft {
  item: ResolvedEvent;
  row: EventRow;
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
  { database, requestClaims }: { database: Database; requestClaims?: RequestClaims | undefined },
  property: Uuid,
  items: readonly ResolvedEvent[],
  now: Micros,
): Promise<(Event | DaybookError | undefined)[]> {
  const drafts = items.map((item): Draft => {
    const row = toRow(item, now);
    return { item, row, event: toEvent(row) };
  });
  if (!items.some((item) => hasKeys(item) || item.request)) {
    await insert(database, property, drafts, now);
    return drafts.map(({ event }) => event);
  }
  return withTransaction(database, async (tx) => {
    const claimants = drafts.map(({ item, row }) => ({ ...item, id: row.id }));
    const granted = await claimAll(tx, property, claimants, now);
    const first = drafts.filter((_, index) => granted[index]);
    const held = await claimRequests(requestClaims, tx, property, first, now);
    await releaseAll(
      tx,
      property,
      [...held].map(({ item }) => item),
    );
    const free = first.filter((draft) => !held.has(draft));
    if (free.length > 0) await insert(tx, property, free, now);
    return drafts.map((draft, index) => {
      if (held.has(draft)) return requestHeld();
      return granted[index] ? draft.event : undefined;
    });
  });
}

async function insert(database: Queryable, property: Uuid, drafts: readonly Draft[], now: Micros): Promise<void> {
  // The message contains the metric name; the table does not.
  const events = drafts.map(({ item: { metricName }, event }) =>
    metricName === undefined ? event : { ...event, metricName },
  );
  const anonymous = drafts.filter(({ item }) => item.identifier !== null).map(({ event }) => event.id);
  const messages = [...toMessages(property, events), ...anonymousMessages(property, anonymous)];
  await insertEvents(database, [
    property,
    formatMicros(now),
    drafts.map(({ item: { identifier }, row }) => ({
      ...row,
      identifier_type: identifier?.type ?? null,
      identifier_value: identifier?.value ?? null,
    })),
    messages,
  ]);
}

function toRow(item: ResolvedEvent, now: Micros): EventRow {
  return {
    id: item.id ?? newUuid(),
    type: item.type,
    profile_id: item.profileId,
    properties: item.properties,
    value: item.money?.value ?? null,
    currency: item.money?.currency ?? null,
    occurred_at: item.occurredAt,
    received_at: now,
    dedupe_id: item.dedupeId ?? null,
    source: item.source,
    backfill: item.backfill,
  };
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
