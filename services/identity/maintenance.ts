/** Periodic work of the identity service. */
import { inChunks } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros } from "#shared/values/time.ts";
import { windowsOverBefore } from "./domain/windows.ts";
import { deleteExpiredOperations } from "./sql/operations.ts";
import { deleteRateWindows } from "./sql/rate-windows.ts";

/** Interval of deleting. */
export const forgetIntervalMs = 60 * 1000;
const rowsMax = 5_000;

/** Deletes old rate windows and expired Idempotency-Keys. */
export async function forget({ database, clock }: ServiceContext, signal?: AbortSignal): Promise<void> {
  const now = clock.nowMicros();
  const before = formatMicros(windowsOverBefore(now));
  await inChunks(rowsMax, (rows) => deleteRateWindows(database, [before, rows]), signal);
  await inChunks(rowsMax, (rows) => deleteExpiredOperations(database, [formatMicros(now), rows]), signal);
}
