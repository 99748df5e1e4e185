/** What the event service does on its own: partitions ahead of time, and keys whose time is over. */
import { inChunks } from "#shared/postgres.ts";
import type { ServiceContext } from "#shared/service.ts";
import { formatMicros } from "#shared/time.ts";
import { deleteExpiredKeys } from "./sql/dedupe-keys.ts";
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
    await createPartition(database, name, lowestUuid(month), lowestUuid(next));
  }
}

/** Frees keys whose time is over. */
export async function deleteExpired({ database, clock }: ServiceContext, signal: AbortSignal): Promise<void> {
  const now = formatMicros(clock.nowMicros());
  await inChunks(expiredRowsMax, (rows) => deleteExpiredKeys(database, [now, rows]), signal);
}

/** The lowest UUIDv7 of a time: its first 48 bits are the milliseconds since 1970. */
function lowestUuid(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
