/** Dedupe keys: which keys an item claims, which event holds a key, and which item gets a contested key. */
import { create } from "@bufbuild/protobuf";
import { EventSchema, type Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { encodeId, timeOfUuid, type Uuid } from "#shared/values/ids.ts";
import type { Database, Queryable, Transaction } from "#shared/database/postgres.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import { keyExpiry, type PreparedEvent } from "./domain/prepare.ts";
import { uniqueKey } from "./domain/unique-key.ts";
import { toEvent } from "./mapping.ts";
import type { ResolvedEvent } from "./domain/resolved.ts";
import { claimKeys, findKeys, releaseKeys, type KeyClaims, type KeyKind } from "./sql/dedupe-keys.ts";
import { readEvents } from "./sql/events.ts";

/** The event that holds a key of an item. */
export interface HeldEvent {
  event: Event;
  /** The key is an idempotency key that was used for a different item. */
  otherItem: boolean;
}

interface Key {
  kind: KeyKind;
  /** A digest, because a caller's key may contain personal data and is kept after a redaction. */
  key: string;
  fingerprint: Buffer | null;
}

/** Whether an item may have keys: a unique_id is one only together with a profile. */
export function hasKeys({ dedupe, idempotencyKey, uniqueId }: Keyed): boolean {
  return dedupe !== undefined || idempotencyKey !== undefined || uniqueId !== undefined;
}

/**
 * Drops duplicates within a batch: keeps the first item of each key and operation. A duplicate still blocks its other
 * key, because both keys lead to the same event. A different item with a used idempotency key blocks nothing.
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

/** Whether a key is held by a different item. Only idempotency keys have fingerprints. */
function isOther(fingerprint: Buffer | null, held: Buffer | null): boolean {
  return held !== null && fingerprint?.compare(held) !== 0;
}

/** An item. Until its profile is resolved it has no unique_id key. */
type Keyed = PreparedEvent & Partial<Pick<ResolvedEvent, "profileId" | "identifier" | "formerProfileIds">>;

/** The idempotency key comes first, because only it detects a different item. */
function keysOf(item: Keyed): Key[] {
  const { dedupe, idempotencyKey } = item;
  const keys: Key[] = [];
  if (idempotencyKey) {
    const { digest: key, fingerprint } = idempotencyKey;
    keys.push({ kind: "idempotency_key", key, fingerprint });
  }
  if (dedupe) keys.push({ kind: "dedupe_id", key: dedupe.digest, fingerprint: null });
  const [own] = uniqueKeysOf(item);
  return own ? [...keys, own] : keys;
}

/** The unique_id key of the item's profile, then those of profiles merged into it, which are never claimed. */
function uniqueKeysOf({ type, uniqueId, profileId, identifier, formerProfileIds = [] }: Keyed): Key[] {
  const owner = profileId ?? identifier ?? undefined;
  if (uniqueId === undefined || owner === undefined) return [];
  return [owner, ...formerProfileIds].map((each) => ({
    kind: "unique_id",
    key: uniqueKey(each, type, uniqueId),
    fingerprint: null,
  }));
}

function keyName({ kind, key }: { kind: KeyKind; key: string }): string {
  return `${kind} ${key}`;
}

/**
 * Looks up the events that hold the keys of items. The event that holds one key of an item also claims its free keys.
 * @returns for each item, in order, the event that holds one of its keys, if any does.
 */
export async function findHeldEvents(
  database: Database,
  property: Uuid,
  items: readonly Keyed[],
  now: Micros,
): Promise<(HeldEvent | undefined)[]> {
  if (!items.some(hasKeys)) return items.map(() => undefined);
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

/** Stands for an event that still holds its unique_id but is not stored: times from its id, the rest from the item. */
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

/** An item, and the id of its event. */
type Claimant = Keyed & { id: Uuid };

/** A key, and the event that claims it. */
interface Claim extends Key {
  eventId: Uuid;
}

/** Claims free keys; the first of several claims to one key wins. @returns the granted claims by keyName. */
async function claimFirst(
  database: Queryable,
  property: Uuid,
  claims: readonly Claim[],
  now: Micros,
): Promise<Map<string, Claim>> {
  const first = new Map(claims.toReversed().map((claim) => [keyName(claim), claim]));
  const granted = await claimKeys(database, [property, formatMicros(now), toRows([...first.values()], now)]);
  const names = new Set(granted.map(keyName));
  return new Map([...first].filter(([name]) => names.has(name)));
}

function toRows(claims: readonly Claim[], now: Micros): KeyClaims {
  return claims.map(({ kind, key, eventId, fingerprint }) => ({
    kind,
    key,
    event_id: eventId,
    fingerprint,
    expires_at: keyExpiry(kind, now),
  }));
}

/** The claims of the keys of items, each for the event of its id. */
export function toClaims(items: readonly Claimant[], now: Micros): KeyClaims {
  return toRows(items.flatMap(claimsOf), now);
}

function claimsOf(item: Claimant): Claim[] {
  return keysOf(item).map((key) => ({ ...key, eventId: item.id }));
}

/**
 * Claims the keys of all items, each for the event of its id. An item that gets only some of its keys releases them,
 * because it must not be stored.
 * @returns for each item, in order, whether it got all of its keys.
 */
export async function claimAll(
  tx: Transaction,
  property: Uuid,
  items: readonly Claimant[],
  now: Micros,
): Promise<boolean[]> {
  const claims = items.map(claimsOf);
  if (claims.flat().length === 0) return items.map(() => true);
  const granted = await claimFirst(tx, property, claims.flat(), now);
  const isGranted = (wanted: Claim): boolean => granted.get(keyName(wanted))?.eventId === wanted.eventId;
  const complete = claims.map((itemClaims) => itemClaims.every(isGranted));
  const partial = claims.flatMap((itemClaims, index) => (complete[index] ? [] : itemClaims.filter(isGranted)));
  if (partial.length > 0) await releaseKeys(tx, [property, partial]);
  return complete;
}

/** Releases the keys of items that got all of theirs and are not stored after all. */
export async function releaseAll(tx: Transaction, property: Uuid, items: readonly Keyed[]): Promise<void> {
  const keys = items.flatMap(keysOf);
  if (keys.length > 0) await releaseKeys(tx, [property, keys]);
}
