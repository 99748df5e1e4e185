import { inChunks } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros } from "#shared/values/time.ts";
import { deleteExpiredItemKeys } from "./sql/item-keys.ts";
import { deleteExpiredOperations } from "./sql/operations.ts";

/** How often expired rows are deleted. */
export const forgetIntervalMs = 10 * 60 * 1000;
const rowsMax = 5_000;

/** Deletes expired item keys and operations. */
export async function forgetExpired({ database, clock }: ServiceContext, signal: AbortSignal): Promise<void> {
  const now = formatMicros(clock.nowMicros());
  await inChunks(rowsMax, (rows) => deleteExpiredItemKeys(database, [now, rows]), signal);
  await inChunks(rowsMax, (rows) => deleteExpiredOperations(database, [now, rows]), signal);
}
