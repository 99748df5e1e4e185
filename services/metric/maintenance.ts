/** Periodic work of the metric service. */
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros } from "#shared/values/time.ts";
import { operations } from "./sql/operations.ts";

/** Interval of looking for rebuilds. */
export const buildIntervalMs = 2_000;
/** Interval of deleting operations. */
export const forgetIntervalMs = 10 * 60 * 1000;

/** Deletes batches that cannot be redelivered, and operations that are not retried any more. */
export async function forgetExpired({ database, clock }: ServiceContext, signal: AbortSignal): Promise<void> {
  await operations.deleteExpired(database, formatMicros(clock.nowMicros()), signal);
}
