/** How long refused writes are kept: bodies 7 days, entries 30, counts 90. */
import { inChunksByProperty } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import type { Clock } from "#shared/values/clock.ts";
import { lowestUuidAt, type Uuid } from "#shared/values/ids.ts";
import { formatMicros, type Instant } from "#shared/values/time.ts";
import {
  deleteCounts,
  deleteOldReports,
  deleteTold,
  findOldCounts,
  findOldReports,
  findOldTold,
} from "./sql/rejected-counts.ts";
import { deletePayloads, deleteWrites, findOldPayloads, findOldWrites } from "./sql/rejected-writes.ts";

const dayMs = 24 * 3600 * 1000;
const payloadsMs = 7 * dayMs;
const writesMs = 30 * dayMs;
const countsMs = 90 * dayMs;
const rowsMax = 1_000;

/** The lowest id of an entry that is still shown. */
export function oldestWrite(clock: Clock): Uuid {
  return oldest(clock, writesMs);
}

/** The first minute whose counts are still shown. */
export function oldestCount(clock: Clock): Instant {
  return formatMicros(clock.nowMicros() - countsMs * 1000);
}

function oldest(clock: Clock, ageMs: number): Uuid {
  return lowestUuidAt(Math.max(0, Math.floor(clock.nowMicros() / 1000) - ageMs));
}

/** Deletes what is older than it is kept. */
export async function forgetRejected(
  { database, clock }: Pick<ServiceContext, "database" | "clock">,
  signal: AbortSignal,
): Promise<void> {
  const now = formatMicros(clock.nowMicros());
  const ids = (rows: readonly { id: Uuid }[]): Uuid[] => rows.map(({ id }) => id);
  await inChunksByProperty(
    rowsMax,
    (rows) => findOldPayloads(database, [oldest(clock, payloadsMs), rows]),
    (property, rows) => deletePayloads(database, [property, ids(rows)]),
    signal,
  );
  await inChunksByProperty(
    rowsMax,
    (rows) => findOldWrites(database, [oldestWrite(clock), rows]),
    (property, rows) => deleteWrites(database, [property, ids(rows)]),
    signal,
  );
  await inChunksByProperty(
    rowsMax,
    (rows) => findOldCounts(database, [oldestCount(clock), rows]),
    (property, rows) => deleteCounts(database, [property, rows]),
    signal,
  );
  await inChunksByProperty(
    rowsMax,
    (rows) => findOldTold(database, [now, rows]),
    (property, rows) => deleteTold(database, [property, ids(rows)]),
    signal,
  );
  await inChunksByProperty(
    rowsMax,
    (rows) => findOldReports(database, [now, rows]),
    (property, rows) => deleteOldReports(database, [property, now, rows.map(({ key_id: key }) => key)]),
    signal,
  );
}
