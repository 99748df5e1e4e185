/** Deltas: what a batch of events adds to metrics. */
import type { Event } from "#proto/daybook/event/v1/event_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { mergeSchema, observe, type ObservedSchema } from "#shared/values/observed-schema.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import { periodOf } from "./buckets.ts";
import { addDecimals, parseDecimal, zero, type Decimal } from "./decimal.ts";

/** What some events of one type add to its metric. */
export interface MetricDelta {
  count: number;
  /** Receipt time of the first event; `source` is its source. */
  firstSeenAt: Micros;
  source: string;
  lastReceivedAt: Micros;
  firstOccurredAt: Micros;
  lastOccurredAt: Micros;
  schema: ObservedSchema;
  /** The original name of the event received first, and its receipt time. */
  original: { name: string; at: Micros } | undefined;
  /** By period, currency and source. */
  cells: Map<string, RollupCell>;
}

/** What is added to one row of roll-ups. */
export interface RollupCell {
  /** Start of the quarter of an hour. */
  period: Micros;
  source: string;
  /** Empty for events without a value. */
  currency: string;
  count: number;
  value: Decimal;
  /** TypeIDs */
  profileIds: Set<string>;
}

/** Adds an event to the delta of its type. */
export function addEvent(deltas: Map<string, MetricDelta>, event: Event): void {
  if (!event.receivedAt || !event.occurredAt) throw new Error("an event lacks a time");
  const receivedAt = fromTimestamp(event.receivedAt);
  const occurredAt = fromTimestamp(event.occurredAt);
  let delta = deltas.get(event.type);
  if (!delta) {
    delta = newDelta(event.source, receivedAt, occurredAt);
    deltas.set(event.type, delta);
  }
  delta.count++;
  noteFirstSeen(delta, receivedAt, event.source);
  delta.lastReceivedAt = Math.max(delta.lastReceivedAt, receivedAt);
  delta.firstOccurredAt = Math.min(delta.firstOccurredAt, occurredAt);
  delta.lastOccurredAt = Math.max(delta.lastOccurredAt, occurredAt);
  if (event.metricName !== undefined) noteName(delta, { name: event.metricName, at: receivedAt });
  observe(delta.schema, JSON.parse(event.propertiesJson) as object);
  const cell = cellOf(delta.cells, occurredAt, event.source, event.currency ?? "");
  cell.count++;
  if (event.value !== undefined) cell.value = addDecimals(cell.value, parseDecimal(event.value));
  if (event.profileId !== undefined) cell.profileIds.add(event.profileId);
}

function newDelta(source: string, receivedAt: Micros, occurredAt: Micros): MetricDelta {
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

/** The cell of an instant, created if it is missing. */
export function cellOf(
  cells: Map<string, RollupCell>,
  occurredAt: Micros,
  source: string,
  currency: string,
): RollupCell {
  const period = periodOf(occurredAt);
  const key = `${period} ${currency} ${source}`;
  let cell = cells.get(key);
  if (!cell) {
    cell = { period, source, currency, count: 0, value: zero, profileIds: new Set() };
    cells.set(key, cell);
  }
  return cell;
}

/** Merges a delta into that of the same name. */
export function addDelta(deltas: Map<string, MetricDelta>, name: string, delta: MetricDelta): void {
  const known = deltas.get(name);
  if (!known) {
    deltas.set(name, delta);
    return;
  }
  known.count += delta.count;
  noteFirstSeen(known, delta.firstSeenAt, delta.source);
  known.lastReceivedAt = Math.max(known.lastReceivedAt, delta.lastReceivedAt);
  known.firstOccurredAt = Math.min(known.firstOccurredAt, delta.firstOccurredAt);
  known.lastOccurredAt = Math.max(known.lastOccurredAt, delta.lastOccurredAt);
  if (delta.original) noteName(known, delta.original);
  mergeSchema(known.schema, delta.schema);
  for (const [key, cell] of delta.cells) addCell(known.cells, key, cell);
}

function addCell(cells: Map<string, RollupCell>, key: string, cell: RollupCell): void {
  const known = cells.get(key);
  if (!known) {
    cells.set(key, cell);
    return;
  }
  known.count += cell.count;
  known.value = addDecimals(known.value, cell.value);
  for (const id of cell.profileIds) known.profileIds.add(id);
}

function noteName(delta: MetricDelta, original: { name: string; at: Micros }): void {
  if (delta.original === undefined || original.at < delta.original.at) delta.original = original;
}

function noteFirstSeen(delta: MetricDelta, at: Micros, source: string): void {
  if (at >= delta.firstSeenAt) return;
  delta.firstSeenAt = at;
  delta.source = source;
}
