/** What a batch of events means for the metrics. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { mergeSchema, observe, type ObservedSchema } from "#shared/values/observed-schema.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import { periodOf } from "./buckets.ts";
import { addDecimals, parseDecimal, zero, type Decimal } from "./decimal.ts";

/** What some events of one type have in common. */
export interface Digest {
  count: number;
  /** When the first of them was received, and where it came from. */
  firstSeenAt: Micros;
  source: string;
  lastReceivedAt: Micros;
  firstOccurredAt: Micros;
  lastOccurredAt: Micros;
  schema: ObservedSchema;
  /** The first free-text name that one of them came under, and when that one was received. */
  original: { name: string; at: Micros } | undefined;
  /** By what tells them apart. */
  cells: Map<string, Cell>;
}

/** What falls into one row of the roll-ups. */
export interface Cell {
  /** When its quarter of an hour begins. */
  period: Micros;
  source: string;
  /** Empty for events without a value. */
  currency: string;
  count: number;
  value: Decimal;
  /** TypeIDs */
  profileIds: Set<string>;
}

/** Adds an event to the digest of its type. */
export function digestEvent(digests: Map<string, Digest>, event: Event): void {
  if (!event.receivedAt || !event.occurredAt) throw new Error("an event lacks a time");
  const receivedAt = fromTimestamp(event.receivedAt);
  const occurredAt = fromTimestamp(event.occurredAt);
  let digest = digests.get(event.type);
  if (!digest) {
    digest = newDigest(event.source, receivedAt, occurredAt);
    digests.set(event.type, digest);
  }
  digest.count++;
  see(digest, receivedAt, event.source);
  digest.lastReceivedAt = Math.max(digest.lastReceivedAt, receivedAt);
  digest.firstOccurredAt = Math.min(digest.firstOccurredAt, occurredAt);
  digest.lastOccurredAt = Math.max(digest.lastOccurredAt, occurredAt);
  if (event.metricName !== undefined) seeName(digest, { name: event.metricName, at: receivedAt });
  observe(digest.schema, JSON.parse(event.propertiesJson) as object);
  const cell = cellOf(digest.cells, occurredAt, event.source, event.currency ?? "");
  cell.count++;
  if (event.value !== undefined) cell.value = addDecimals(cell.value, parseDecimal(event.value));
  if (event.profileId !== undefined) cell.profileIds.add(event.profileId);
}

function newDigest(source: string, receivedAt: Micros, occurredAt: Micros): Digest {
  return {
    count: 0,
    firstSeenAt: receivedAt,
    source,
    lastReceivedAt: receivedAt,
    firstOccurredAt: occurredAt,
    lastOccurredAt: occurredAt,
    schema: new Map(),
    original: undefined,
    cells: new Map(),
  };
}

/** The cell of an instant, made if it is missing. */
export function cellOf(cells: Map<string, Cell>, occurredAt: Micros, source: string, currency: string): Cell {
  const period = periodOf(occurredAt);
  const key = `${period} ${currency} ${source}`;
  let cell = cells.get(key);
  if (!cell) {
    cell = { period, source, currency, count: 0, value: zero, profileIds: new Set() };
    cells.set(key, cell);
  }
  return cell;
}

/** Adds a digest to those that are there already. */
export function addDigest(digests: Map<string, Digest>, name: string, digest: Digest): void {
  const known = digests.get(name);
  if (!known) {
    digests.set(name, digest);
    return;
  }
  known.count += digest.count;
  see(known, digest.firstSeenAt, digest.source);
  known.lastReceivedAt = Math.max(known.lastReceivedAt, digest.lastReceivedAt);
  known.firstOccurredAt = Math.min(known.firstOccurredAt, digest.firstOccurredAt);
  known.lastOccurredAt = Math.max(known.lastOccurredAt, digest.lastOccurredAt);
  if (digest.original) seeName(known, digest.original);
  mergeSchema(known.schema, digest.schema);
  for (const [key, cell] of digest.cells) addCell(known.cells, key, cell);
}

function addCell(cells: Map<string, Cell>, key: string, cell: Cell): void {
  const known = cells.get(key);
  if (!known) {
    cells.set(key, cell);
    return;
  }
  known.count += cell.count;
  known.value = addDecimals(known.value, cell.value);
  for (const id of cell.profileIds) known.profileIds.add(id);
}

function seeName(digest: Digest, original: { name: string; at: Micros }): void {
  if (digest.original === undefined || original.at < digest.original.at) digest.original = original;
}

function see(digest: Digest, at: Micros, source: string): void {
  if (at >= digest.firstSeenAt) return;
  digest.firstSeenAt = at;
  digest.source = source;
}
