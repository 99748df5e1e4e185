/** Maintenance: creates partitions ahead of time, detaches old ones, and deletes expired rows. */
import { lowestUuidAt } from "#shared/values/ids.ts";
import { inChunks, inChunksByProperty } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros } from "#shared/values/time.ts";
import { deleteExpiredKeys, findExpiredKeys } from "./sql/dedupe-keys.ts";
import { createPartition, detachPartitions } from "./sql/partitions.ts";
import { deleteSilentWriters } from "./sql/writers.ts";

/** How often maintenance runs. */
export const maintenanceIntervalMs = 60_000;
const monthsAhead = 3;
const expiredRowsMax = 5_000;

/** Creates the partitions of last month (an id may be older than its event), this month and the next three. */
export async function createPartitions({ database, clock }: ServiceContext): Promise<void> {
  for (let offset = -1; offset <= monthsAhead; offset++) {
    const [month, next] = [monthOf(clock.nowMicros(), offset), monthOf(clock.nowMicros(), offset + 1)];
    await createPartition(database, partitionName(month), lowestUuidAt(month.getTime()), lowestUuidAt(next.getTime()));
  }
}

/**
 * Detaches the partitions of months further back from `event.events`. Their tables stay until an operator drops them,
 * but nothing reads them. The roll-ups keep their counts.
 */
export async function detachOld({ database, clock, log }: ServiceContext, retentionMonths: number): Promise<void> {
  const oldest = partitionName(monthOf(clock.nowMicros(), -retentionMonths));
  for (const name of await detachPartitions(database, oldest)) log.warn({ table: name }, "a partition was detached");
}

/** Deletes expired keys, and the rows of processes that were killed. */
export async function deleteExpired({ database, clock }: ServiceContext, signal: AbortSignal): Promise<void> {
  const now = formatMicros(clock.nowMicros());
  await inChunksByProperty(
    expiredRowsMax,
    (rows) => findExpiredKeys(database, [now, rows]),
    async (property, keys) => {
      const deleted: unknown[] = [];
      for (const [kind, some] of Map.groupBy(keys, (key) => key.kind)) {
        deleted.push(...(await deleteExpiredKeys(database, [property, kind, now, some.map(({ key }) => key)])));
      }
      return deleted;
    },
    signal,
  );
  await inChunks(expiredRowsMax, (rows) => deleteSilentWriters(database, [rows]), signal);
}

/** The first instant of the month that is `offset` months after that of an instant. */
function monthOf(micros: number, offset: number): Date {
  const day = new Date(micros / 1000);
  return new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + offset, 1));
}

function partitionName(month: Date): string {
  return `events_${month.toISOString().slice(0, 7).replace("-", "_")}`;
}
