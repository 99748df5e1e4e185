/** Writes prepared events, each once: the keys that they claim, the rows, and the outbox rows that tell of them. */
import { create, toBinary } from "@bufbuild/protobuf";
import { EventsRecordedSchema, type Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/clock.ts";
import { encodeId, newUuid } from "#shared/ids.ts";
import { withTransaction, type Database, type Queryable, type Transaction } from "#shared/postgres.ts";
import { formatMicros } from "#shared/time.ts";
import { keyExpiry, type PreparedEvent } from "./domain/prepare.ts";
import { toEvent } from "./mapping.ts";
import { claimKeys, findKeys, releaseKeys, type KeyKind } from "./sql/dedupe-keys.ts";
import { insertEvents, readEvents, type EventRow } from "./sql/events.ts";

/** An event whose profile is known. */
export interface Recordable extends PreparedEvent {
  /** UUID; null for an anonymous event. */
  profileId: string | null;
  /** What an anonymous event knows of its person. */
  identifier: { type: string; value: string } | null;
}

/** An event that held a key before. */
export interface HeldEvent {
  event: Event;
  /** The key is an idempotency key that came with another item. */
  otherItem: boolean;
}

// The bus takes messages of up to 1 MB.
const messageBytesMax = 768 * 1024;
const subject = "daybook.event.recorded";

interface Key {
  kind: KeyKind;
  key: string;
  fingerprint: Buffer | null;
}

/** The keys of an item. The idempotency key comes first: it says more. */
function keysOf({ dedupeId, idempotencyKey }: PreparedEvent): Key[] {
  const keys: Key[] = [];
  if (idempotencyKey) keys.push({ kind: "idempotency_key", ...idempotencyKey });
  if (dedupeId !== undefined) keys.push({ kind: "dedupe_id", key: dedupeId, fingerprint: null });
  return keys;
}

function keyName({ kind, key }: { kind: KeyKind; key: string }): string {
  return `${kind} ${key}`;
}

/**
 * Looks up the events that hold the keys of items. Of an item with two keys, the one that is free goes to the event that holds the other.
 * @returns for each item, in order, the event that holds one of its keys, if any does.
 */
export async function findHeldEvents(
  database: Database,
  property: string,
  items: readonly PreparedEvent[],
  now: Micros,
): Promise<(HeldEvent | undefined)[]> {
  const keys = items.map(keysOf);
  const all = keys.flat();
  if (all.length === 0) return items.map(() => undefined);
  const rows = await findKeys(database, [property, ...keyColumns(all), formatMicros(now)]);
  if (rows.length === 0) return items.map(() => undefined);
  const held = new Map(rows.map((row) => [keyName(row), row]));
  const ids = [...new Set(rows.map(({ event_id }) => event_id))];
  const events = new Map((await readEvents(database, [property, ids])).map((row) => [row.id, toEvent(row)]));

  const free: Claim[] = [];
  const found = keys.map((itemKeys): HeldEvent | undefined => {
    for (const key of itemKeys) {
      const row = held.get(keyName(key));
      const event = row && events.get(row.event_id);
      if (!event) continue;
      const otherItem = row.fingerprint !== null && key.fingerprint?.compare(row.fingerprint) !== 0;
      if (!otherItem) {
        for (const other of itemKeys) if (!held.has(keyName(other))) free.push({ ...other, eventId: row.event_id });
      }
      return { event, otherItem };
    }
    return undefined;
  });
  if (free.length > 0) await claimFirst(database, property, free, now);
  return found;
}

/**
 * Records events in one transaction.
 * @returns for each item, in order, the event; undefined when one of its keys is held by another event.
 */
export async function recordEvents(
  database: Database,
  property: string,
  items: readonly Recordable[],
  now: Micros,
): Promise<(Event | undefined)[]> {
  const rows = items.map((item) => toRow(item, now));
  if (items.every((item) => keysOf(item).length === 0)) {
    await insert(database, property, items, rows, now);
    return rows.map(toEvent);
  }
  return withTransaction(database, async (tx) => {
    const free = await claim(tx, property, items, rows, now);
    const freeItems = items.filter((_, index) => free[index]);
    const freeRows = rows.filter((_, index) => free[index]);
    if (freeRows.length > 0) await insert(tx, property, freeItems, freeRows, now);
    return rows.map((row, index) => (free[index] ? toEvent(row) : undefined));
  });
}

/** A key that an event is to hold. */
interface Claim extends Key {
  /** UUID */
  eventId: string;
}

/** Claims keys that are free; of several claims to one key the first counts. @returns the claims that were granted, by keyName. */
async function claimFirst(
  database: Queryable,
  property: string,
  claims: readonly Claim[],
  now: Micros,
): Promise<Map<string, Claim>> {
  const first = new Map(claims.toReversed().map((one) => [keyName(one), one]));
  const wanted = [...first.values()];
  const granted = await claimKeys(database, [
    property,
    ...keyColumns(wanted),
    wanted.map(({ eventId }) => eventId),
    wanted.map(({ fingerprint }) => fingerprint),
    wanted.map(({ kind }) => keyExpiry(kind, now)),
    formatMicros(now),
  ]);
  const names = new Set(granted.map(keyName));
  return new Map([...first].filter(([name]) => names.has(name)));
}

/**
 * Claims the keys of all items. An item that is granted one of its keys and not the other is not recorded, and gives the first back.
 * @returns for each item whether it has all of its keys.
 */
async function claim(
  tx: Transaction,
  property: string,
  items: readonly Recordable[],
  rows: readonly EventRow[],
  now: Micros,
): Promise<boolean[]> {
  const claims = items.map((item, index) => keysOf(item).map((key) => ({ ...key, eventId: rows[index]?.id ?? "" })));
  const granted = await claimFirst(tx, property, claims.flat(), now);
  const isGranted = (wanted: Claim): boolean => granted.get(keyName(wanted))?.eventId === wanted.eventId;
  const complete = claims.map((itemClaims) => itemClaims.every(isGranted));
  const useless = claims.flatMap((itemClaims, index) => (complete[index] ? [] : itemClaims.filter(isGranted)));
  if (useless.length > 0) await releaseKeys(tx, [property, ...keyColumns(useless)]);
  return complete;
}

function keyColumns(keys: readonly { kind: KeyKind; key: string }[]): [KeyKind[], string[]] {
  return [keys.map(({ kind }) => kind), keys.map(({ key }) => key)];
}

async function insert(
  database: Queryable,
  property: string,
  items: readonly Recordable[],
  rows: readonly EventRow[],
  now: Micros,
): Promise<void> {
  const messages = toMessages(property, rows.map(toEvent));
  await insertEvents(database, [
    property,
    formatMicros(now),
    rows.map(({ id }) => id),
    rows.map(({ type }) => type),
    rows.map(({ profile_id }) => profile_id),
    items.map(({ identifier }) => identifier?.type ?? null),
    items.map(({ identifier }) => identifier?.value ?? null),
    rows.map(({ properties }) => properties),
    rows.map(({ value }) => value),
    rows.map(({ currency }) => currency),
    rows.map(({ occurred_at }) => formatMicros(occurred_at)),
    rows.map(({ dedupe_id }) => dedupe_id),
    rows.map(({ source }) => source),
    rows.map(({ backfill }) => backfill),
    messages.map(({ id }) => id),
    subject,
    messages.map(({ payload }) => payload),
  ]);
}

function toRow(item: Recordable, now: Micros): EventRow {
  return {
    id: newUuid(),
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
function toMessages(property: string, events: readonly Event[]): { id: string; payload: Buffer }[] {
  const groups: Event[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const event of events) {
    // The properties are what makes an event large; 1 KiB is more than all the rest.
    const size = Buffer.byteLength(event.propertiesJson) + 1024;
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
    return { id, payload: Buffer.from(toBinary(EventsRecordedSchema, message)) };
  });
}
