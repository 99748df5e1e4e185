/** What the metric service does on its own. */
import { inChunks } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros } from "#shared/values/time.ts";
import { deleteBatches } from "./sql/batches.ts";

/** How often it is looked whether there is something to count anew. */
export const buildIntervalMs = 2_000;
/** How often batches are forgotten. */
export const forgetIntervalMs = 10 * 60 * 1000;
// A message comes again for as long as the bus keeps it, which is 7 days, or its signature is good, which is 7 and a half.
const batchAgeMaxMicros = 8 * 24 * 60 * 60 * 1_000_000;
const rowsMax = 5_000;

/** Forgets batches that cannot come again. */
export async function forgetBatches({ database, clock }: ServiceContext, signal: AbortSignal): Promise<void> {
  const before = formatMicros(clock.nowMicros() - batchAgeMaxMicros);
  await inChunks(rowsMax, (rows) => deleteBatches(database, [before, rows]), signal);
}
