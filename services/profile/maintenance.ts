/** What the profile service does on its own. */
import type { ServiceContext } from "#shared/service.ts";
import { formatMicros } from "#shared/time.ts";
import { deleteExpiredItemKeys } from "./sql/item-keys.ts";

/** How often keys whose time is over are forgotten. */
export const forgetIntervalMs = 10 * 60 * 1000;
// A statement holds its locks only briefly.
const rowsMax = 5_000;

/** Forgets keys whose time is over. */
export async function forgetItemKeys({ database, clock }: ServiceContext, signal: AbortSignal): Promise<void> {
  const now = formatMicros(clock.nowMicros());
  for (let deleted = rowsMax; deleted === rowsMax && !signal.aborted;) {
    deleted = (await deleteExpiredItemKeys(database, [now, rowsMax])).length;
  }
}
