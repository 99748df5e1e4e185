import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros } from "#shared/values/time.ts";
import { operations } from "./sql/operations.ts";

/** How often expired rows are deleted. */
export const forgetIntervalMs = 10 * 60 * 1000;

/** Deletes operations that have expired. */
export async function forgetExpired({ database, clock }: ServiceContext, signal: AbortSignal): Promise<void> {
  await operations.deleteExpired(database, formatMicros(clock.nowMicros()), signal);
}
