/** Keys that keep repeats out: what an item claims, who holds it, and who gets it when several want it at once. */
import { create } from "@bufbuild/protobuf";
import { EventSchema, type Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { encodeId, timeOfUuid, type Uuid } from "#shared/values/ids.ts";
import { digestOfKey } from "#shared/values/key-digest.ts";
import type { Database, Queryable, Transaction } from "#shared/database/postgres.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import { keyExpiry, type PreparedEvent } from "./domain/prepare.ts";
import { uniqueKey } from "./domain/unique-key.ts";
import { toEvent } from "./mapping.ts";
import type { ResolvedEvent } from "./domain/resolved.ts";
import { claimKeys, findKeys, releaseKeys, type KeyKind } from "./sql/dedupe-keys.ts";
import { readEvents } from "./sql/events.ts";

/** An event that held a key before. */
export interface HeldEvent {
  event: Event;
  /** The key is an idempotency key that came with another item. */
  otherItem: boolean;
}

interface Key {
  kind: KeyKind;
  /** A digest: what a caller names an event by may tell of a person, and keeps repeats out after the person is redacted. */
  key: string;
  fingerprint: Buffer | null;
}

/** Whether an item has any key. */
export function hasKeys(item: Keyed): boolean {
  return keysOf(item).length > 0;
}

/**
 * Of items in order, those that are not repeats of another: they would get their keys if nobody else had them. A repeat takes its other key
 * with it, as that will lead to the same event; an item that comes with another's idempotency key takes nothing.
 */
export function firstOfEachKey<Item extends Keyed>(items: readonly Item[]): Item[] {
  const taken = new Map<string, Buffer | null>();
  const operations = new Set<string>();
  return items.filter((item) => {
    const { operation } = item;
    if (operation !== undefined && operations.has(operation)) return false;
    if (operation !== undefined) operations.add(operation);
    const keys = keysOf(item);
    const repeated = keys.find((key) => taken.has(keyName(key)));
    if (repeated && isOther(repeated.fingerprint, taken.get(keyName(repeated)) ?? null)) return false;
    for (const key of keys) if (!taken.has(keyName(key))) taken.set(keyName(key), key.fingerprint);
    return repeated === undefined;
  });
}

/** Whether a key that has a fingerprint came with another item. */
function isOther(fingerprint: Buffer | null, held: Buffer | null): boolean {
  return held !== null && fingerprint?.compare(held) !== 0;
}

/** An item, also before its profile is known: until then it has fewer keys. */
type Keyed = PreparedEvent & Partial<Pick<ResolvedEvent, "profileId" | "identifier" | "formerProfileIds">>;

/** The keys of an item. The idempotency key comes first: it says more. */
function keysOf(item: Keyed): Key[] {
  const { dedupeId, idempotencyKey } = item;
  const keys: Key[] = [];
  if (idempotencyKey) keys.push({ kind: "idempotency_key", ...idempotencyKey, key: digestOfKey(idempotencyKey.key) });
  if (dedupeId !== undefined) keys.push({ kind: "dedupe_id", key: digestOfKey(dedupeId), fingerprint: null });
  const [own] = uniqueKeysOf(item);
  return own ? [...keys, own] : keys;
}

/** The key of an item's unique_id under its profile, and then under those that were merged into it: these are looked for, never claimed. */
function uniqueKeysOf({ type, uniqueId, profileId, identifier, formerProfileIds = [] }: Keyed): Key[] {
  const whose = profileId ?? identifier ?? undefined;
  if (uniqueId === undefined || whose === undefined) return [];
  return [whose, ...formerProfileIds].map((one) => ({
    kind: "unique_id",
    key: uniqueKey(one, type, uniqueId),
    fingerprint: null,
  }));
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
  property: Uuid,
  items: readonly Keyed[],
  now: Micros,
): Promise<(HeldEvent | undefined)[]> {
  const keys = items.map(keysOf);
  const former = items.map((item) => uniqueKeysOf(item).slice(1));
  const all = [...keys, ...former].flat();
  if (all.length === 0) return items.map(() => undefined);
  const rows = await findKeys(database, [property, formatMicros(now), all]);
  if (rows.length === 0) return items.map(() => undefined);
  const held = new Map(rows.map((row) => [keyName(row), row]));
  const ids = [...new Set(rows.map(({ event_id }) => event_id))];
  const events = new Map((await readEvents(database, [property, ids])).map((row) => [row.id, toEvent(row)]));

  const free: Claim[] = [];
  const found = keys.map((itemKeys, index): HeldEvent | undefined => {
    for (const key of [...itemKeys, ...(former[index] ?? [])]) {
      const row = held.get(keyName(key));
      const event = row && (events.get(row.event_id) ?? toForgotten(row, items[index]));
      if (!event) continue;
      const otherItem = isOther(key.fingerprint, row.fingerprint);
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

/** What is known of an event that is stored no more, while it still keeps others out: as little as its id tells. */
function toForgotten({ kind, event_id: id }: { kind: KeyKind; event_id: Uuid }, item?: Keyed): Event | undefined {
  if (kind !== "unique_id" || !item) return undefined;
  const at = toTimestamp(timeOfUuid(id) * 1000);
  const { type, source, backfill, profileId } = item;
  return create(EventSchema, {
    id: encodeId("evt", id),
    type,
    propertiesJson: "{}",
    occurredAt: at,
    receivedAt: at,
    source,
    backfill,
    ...(profileId ? { profileId: encodeId("prof", profileId) } : {}),
  });
}

/** A key that an event is to hold. */
interface Claim extends Key {
  eventId: Uuid;
}

/** Claims keys that are free; of several claims to one key the first counts. @returns the claims that were granted, by keyName. */
async function claimFirst(
  database: Queryable,
  property: Uuid,
  claims: readonly Claim[],
  now: Micros,
): Promise<Map<string, Claim>> {
  const first = new Map(claims.toReversed().map((one) => [keyName(one), one]));
  const wanted = [...first.values()];
  const rows = wanted.map(({ kind, key, eventId, fingerprint }) => ({
    kind,
    key,
    event_id: eventId,
    fingerprint,
    expires_at: keyExpiry(kind, now),
  }));
  const granted = await claimKeys(database, [property, formatMicros(now), rows]);
  const names = new Set(granted.map(keyName));
  return new Map([...first].filter(([name]) => names.has(name)));
}

/**
 * Claims the keys of all items, each for the event of its id. An item that is granted one of its keys and not the other gives the first
 * back, as it must not be recorded.
 * @returns for each item, in order, whether it has all of its keys.
 */
export async function claimAll(
  tx: Transaction,
  property: Uuid,
  items: readonly (Keyed & { id: Uuid })[],
  now: Micros,
): Promise<boolean[]> {
  const claims = items.map((item) => keysOf(item).map((key) => ({ ...key, eventId: item.id })));
  const granted = await claimFirst(tx, property, claims.flat(), now);
  const isGranted = (wanted: Claim): boolean => granted.get(keyName(wanted))?.eventId === wanted.eventId;
  const complete = claims.map((itemClaims) => itemClaims.every(isGranted));
  const useless = claims.flatMap((itemClaims, index) => (complete[index] ? [] : itemClaims.filter(isGranted)));
  if (useless.length > 0) await releaseKeys(tx, [property, useless]);
  return complete;
}
