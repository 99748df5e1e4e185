/** What the event service does on its own: partitions ahead of time, and keys whose time is over. */
import { lowestUuidAt } from "#shared/ids.ts";
import { inChunks } from "#shared/postgres.ts";
import type { ServiceContext } from "#shared/service.ts";
import { formatMicros } from "#shared/time.ts";
import { deleteExpiredKeys } from "./sql/dedupe-keys.ts";
import { deleteSilentRecorders } from "./sql/recorders.ts";
import { createPartition } from "./sql/partitions.ts";

/** How often the service looks after its tables. */
export const maintenanceIntervalMs = 10 * 60 * 1000;
const monthsAhead = 3;
const expiredRowsMax = 5_000;

/** Makes the partitions of last month (an id may be older than its recording), of this one and of the next three. */
export async function createPartitions({ database, clock }: ServiceContext): Promise<void> {
  const today = new Date(clock.nowMicros() / 1000);
  for (let offset = -1; offset <= monthsAhead; offset++) {
    const month = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + offset, 1));
    const next = new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 1));
    const name = `events_${month.toISOString().slice(0, 7).replace("-", "_")}`;
    await createPartition(database, name, lowestUuidAt(month.getTime()), lowestUuidAt(next.getTime()));
  }
}

/** Frees keys whose time is over, and forgets processes that ended without a word. */
export async function deleteExpired({ database, clock }: ServiceContext, signal: AbortSignal): Promise<void> {
  const now = formatMicros(clock.nowMicros());
  await inChunks(expiredRowsMax, (rows) => deleteExpiredKeys(database, [now, rows]), signal);
  await inChunks(expiredRowsMax, (rows) => deleteSilentRecorders(database, [rows]), signal);
}
