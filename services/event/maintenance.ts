/** What the event service does on its own: partitions ahead of time, old ones detached, and keys whose time is over. */
import { lowestUuidAt } from "#shared/values/ids.ts";
import { inChunks } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros } from "#shared/values/time.ts";
import { deleteExpiredKeys } from "./sql/dedupe-keys.ts";
import { createPartition, detachPartitions } from "./sql/partitions.ts";
import { deleteSilentWriters } from "./sql/writers.ts";

/** How often the service looks after its tables. */
export const maintenanceIntervalMs = 60_000;
const monthsAhead = 3;
const expiredRowsMax = 5_000;

/** Makes the partitions of last month (an id may be older than its recording), of this one and of the next three. */
export async function createPartitions({ database, clock }: ServiceContext): Promise<void> {
  for (let offset = -1; offset <= monthsAhead; offset++) {
    const [month, next] = [monthOf(clock.nowMicros(), offset), monthOf(clock.nowMicros(), offset + 1)];
    await createPartition(database, partitionName(month), lowestUuidAt(month.getTime()), lowestUuidAt(next.getTime()));
  }
}

/**
 * Takes the partitions of months that lie further back out of `event.events`. Their tables stay as they are, for whoever keeps or drops them;
 * nothing reads them any more, and roll-ups go on counting what was in them.
 */
export async function detachOld({ database, clock, log }: ServiceContext, retentionMonths: number): Promise<void> {
  const oldest = partitionName(monthOf(clock.nowMicros(), -retentionMonths));
  for (const name of await detachPartitions(database, oldest)) log.warn({ table: name }, "a partition was detached");
}

/** Frees keys whose time is over, and forgets processes that ended without a word. */
export async function deleteExpired({ database, clock }: ServiceContext, signal: AbortSignal): Promise<void> {
  const now = formatMicros(clock.nowMicros());
  await inChunks(expiredRowsMax, (rows) => deleteExpiredKeys(database, [now, rows]), signal);
  await inChunks(expiredRowsMax, (rows) => deleteSilentWriters(database, [rows]), signal);
}

/** The first instant of a month, so many after the one of an instant. */
function monthOf(micros: number, offset: number): Date {
  const day = new Date(micros / 1000);
  return new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + offset, 1));
}

function partitionName(month: Date): string {
  return `events_${month.toISOString().slice(0, 7).replace("-", "_")}`;
}
