/** Periodic work of the metric service. */
import { inChunks } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros } from "#shared/values/time.ts";
import { deleteBatches } from "./sql/batches.ts";

/** Interval of looking for rebuilds. */
export const buildIntervalMs = 2_000;
/** Interval of deleting batches. */
export const forgetIntervalMs = 10 * 60 * 1000;
// The bus redelivers messages for up to 7 days, and their signatures are valid for 7.5 days.
const batchAgeMaxMicros = 8 * 24 * 60 * 60 * 1_000_000;
const rowsMax = 5_000;

/** Deletes batches that cannot be redelivered. */
export async function forgetBatches({ database, clock }: ServiceContext, signal: AbortSignal): Promise<void> {
  const before = formatMicros(clock.nowMicros() - batchAgeMaxMicros);
  await inChunks(rowsMax, (rows) => deleteBatches(database, [before, rows]), signal);
}
