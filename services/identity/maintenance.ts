/** What the identity service does on its own. */
import { inChunks } from "#shared/postgres.ts";
import type { ServiceContext } from "#shared/service.ts";
import { formatMicros } from "#shared/time.ts";
import { windowsOverBefore } from "./domain/windows.ts";
import { deleteRateWindows } from "./sql/rate-windows.ts";

/** How often rate windows are forgotten. */
export const forgetIntervalMs = 60 * 1000;
const rowsMax = 5_000;

/** Forgets rate windows that are long over. */
export async function forgetRateWindows({ database, clock }: ServiceContext, signal?: AbortSignal): Promise<void> {
  const before = formatMicros(windowsOverBefore(clock.nowMicros()));
  await inChunks(rowsMax, (rows) => deleteRateWindows(database, [before, rows]), signal);
}
