/**
 * Counts and keeps refused writes. The counts are exact; of the writes themselves some of each group and minute are
 * kept. All limits are exact too, because whoever counts for a property locks its row.
 */
import { toBinary } from "@bufbuild/protobuf";
import { ErrorSchema } from "#proto/daybook/common/v1/error_pb.ts";
import { PayloadState } from "#proto/daybook/event/v1/rejected_pb.ts";
import { Counter, type Registry } from "prom-client";
import type { Transaction } from "#shared/database/postgres.ts";
import { metricOf } from "#shared/process/metrics.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { keptPerGroupMax } from "#shared/values/rejections.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { EventContext } from "./context.ts";
import { coarser, dayOf, digestOf, minuteOf, type Counted, type Group } from "./domain/rejections.ts";
import { addCounts, addKept, lockKept, noteTold, openReport, readGroups, type KeptRow } from "./sql/rejected-counts.ts";
import { insertPayloads, insertWrites } from "./sql/rejected-writes.ts";

const keptPerDayMax = 10_000;
// Each is a row of the counts. Past this, groups of a day leave out the fields that callers choose.
const groupsPerDayMax = 20_000;
const secondMicros = 1_000_000;
// A redaction is repeated after 120 s at the latest. What comes later than this is kept without its texts, because no
// redaction would find it any more.
const textAgeMaxMicros = 60 * secondMicros;
const firstReportDelayMicros = 10 * secondMicros;

/** How long the ids of what was told are known. */
export const toldMicros = {
  /** Gateways tell again until they are answered. */
  call: 24 * 3600 * secondMicros,
  /** The bus keeps a message for 7 days, also as a dead letter. */
  message: 8 * 24 * 3600 * secondMicros,
} as const;

/** Makes the metric of refused writes. */
export function countRejected(registry: Registry): (outcome: "kept" | "counted", count: number) => void {
  const counter = metricOf(registry, Counter, {
    name: "daybook_event_rejected_writes_total",
    help: "Refused writes that were counted, by whether an entry of each is kept.",
    labelNames: ["outcome"],
  });
  // Before the first, so that a rate over it is known.
  for (const outcome of ["kept", "counted"]) counter.inc({ outcome }, 0);
  return (outcome, count) => counter.inc({ outcome }, count);
}

interface Row {
  minute: Micros;
  digest: Buffer;
  group: Group;
  keyName: string;
  count: number;
  keptBefore: number;
  kept: Counted[];
  firstAt: Micros;
  lastAt: Micros;
}

/**
 * Counts refused writes of one property, each once, and keeps some of them.
 * @param toldFor how long their ids are known; undefined in a transaction that happens once.
 * @returns how many were counted, and how many of those are kept.
 */
export async function reject(
  tx: Transaction,
  { clock }: Pick<EventContext, "clock">,
  property: Uuid,
  told: readonly Counted[],
  toldFor: number | undefined,
): Promise<{ counted: number; kept: number }> {
  const now = clock.nowMicros();
  const [state] = await lockKept(tx, [property, formatMicros(dayOf(now))]);
  if (!state) throw new Error("the counts of a property were not locked");
  const fresh = await withoutTold(tx, property, told, toldFor === undefined ? undefined : now + toldFor);
  if (fresh.length === 0) return { counted: 0, kept: 0 };
  const { rows, begun } = await group(tx, property, fresh, state);
  const kept = rows.flatMap((row) => row.kept.map((counted) => ({ row, counted })));
  await addCounts(tx, [property, rows.map(toCountRow)]);
  if (kept.length > 0) await keep(tx, property, kept, { now, keepsPayloads: state.keeps_payloads });
  await addKept(tx, [property, kept.length, begun]);
  const byKey = Map.groupBy(rows, (row) => row.group.key_id);
  const reports = [...byKey].map(([key, of]) => ({
    key_id: key,
    first_at: Math.min(...of.map(({ firstAt }) => firstAt)),
    due_at: now + firstReportDelayMicros,
  }));
  await openReport(tx, [property, reports]);
  return { counted: fresh.reduce((sum, { count }) => sum + count, 0), kept: kept.length };
}

async function withoutTold(
  tx: Transaction,
  property: Uuid,
  told: readonly Counted[],
  expiresAt: Micros | undefined,
): Promise<readonly Counted[]> {
  const once = [...new Map(told.map((counted) => [counted.id, counted])).values()];
  if (expiresAt === undefined || once.length === 0) return once;
  const noted = await noteTold(tx, [property, formatMicros(expiresAt), once.map(({ id }) => id)]);
  const fresh = new Set(noted.map(({ id }) => id));
  return once.filter(({ id }) => fresh.has(id));
}

/** @returns the rows to add to the counts, with what is to be kept of each, and how many of them are new. */
async function group(
  tx: Transaction,
  property: Uuid,
  fresh: readonly Counted[],
  state: KeptRow,
): Promise<{ rows: Row[]; begun: number }> {
  let rows = gather(fresh, (of) => of);
  if (state.group_count + rows.length > groupsPerDayMax) rows = gather(fresh, coarser);
  const keys = rows.map(({ minute, digest }) => ({ minute, group_digest: digest }));
  const known = new Map(
    (await readGroups(tx, [property, keys])).map((row) => [keyOf(row.minute, row.group_digest), row.kept_count]),
  );
  let room = keptPerDayMax - state.kept_count;
  for (const row of rows) {
    row.keptBefore = known.get(keyOf(row.minute, row.digest)) ?? 0;
    row.kept = row.kept.slice(0, Math.max(0, Math.min(room, keptPerGroupMax - row.keptBefore)));
    room -= row.kept.length;
  }
  return { rows, begun: rows.length - known.size };
}

function gather(fresh: readonly Counted[], as: (group: Group) => Group): Row[] {
  const rows = new Map<string, Row>();
  for (const counted of fresh) {
    const of = as(counted.group);
    const digest = digestOf(of);
    const minute = minuteOf(counted.lastAt);
    const key = keyOf(minute, digest);
    const { keyName, count, firstAt, lastAt } = counted;
    let row = rows.get(key);
    if (!row) {
      row = { minute, digest, group: of, keyName, count: 0, keptBefore: 0, kept: [], firstAt, lastAt };
      rows.set(key, row);
    }
    row.count += count;
    row.firstAt = Math.min(row.firstAt, firstAt);
    row.lastAt = Math.max(row.lastAt, lastAt);
    if (counted.write) row.kept.push(counted);
  }
  return [...rows.values()];
}

function keyOf(minute: Micros, digest: Buffer): string {
  return `${minute} ${digest.toString("base64")}`;
}

function toCountRow({ minute, digest, group: of, keyName, count, kept, firstAt, lastAt }: Row) {
  return {
    ...of,
    minute,
    group_digest: digest,
    key_name: keyName,
    count,
    kept_count: kept.length,
    first_at: firstAt,
    last_at: lastAt,
  };
}

async function keep(
  tx: Transaction,
  property: Uuid,
  kept: readonly { row: Row; counted: Counted }[],
  { now, keepsPayloads }: { now: Micros; keepsPayloads: boolean },
): Promise<void> {
  const payloads: { id: Uuid; payload: Uint8Array }[] = [];
  const writes = kept.flatMap(({ row: { digest, group: of }, counted: { id, lastAt, write } }) => {
    if (!write?.message.error) return [];
    const { message, payload } = write;
    const isLate = now - lastAt > textAgeMaxMicros;
    const isStored = payload !== undefined && keepsPayloads && !isLate;
    if (isStored) payloads.push({ id, payload });
    return {
      ...of,
      id,
      rejected_at: lastAt,
      group_digest: digest,
      surface: message.surface,
      status: message.status,
      error: toBinary(
        ErrorSchema,
        isLate ? { ...write.message.error, message: lateMessage, errors: [] } : write.message.error,
      ),
      request_id: message.requestId,
      item_index: message.itemIndex ?? null,
      client_reference: isLate ? null : (message.clientReference ?? null),
      key_name: message.keyName,
      installation_id: message.installationId ?? null,
      job_id: message.jobId ?? null,
      payload_state: isStored ? message.payloadState : PayloadState.NOT_KEPT,
    };
  });
  await insertWrites(tx, [property, writes]);
  if (payloads.length > 0) await insertPayloads(tx, [property, payloads]);
}

const lateMessage = "This write was told too late to keep its message and its body.";
