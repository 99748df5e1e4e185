/** Deletes what is too old. */
import { inChunks } from "#shared/database/postgres.ts";
import { nilUuid, type Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { WebhookContext } from "./context.ts";
import { pageProperties } from "./sql/properties.ts";
import { deleteOldReplays } from "./sql/replays.ts";
import { deleteOldDeliveries, deleteOldMessages, forgetLinked, forgetRedacted } from "./sql/retention.ts";

/** How often that is done. */
export const maintenanceIntervalMs = 10 * 60 * 1000;

const propertiesMax = 500;
const rowsMax = 1_000;
const dayMicros = 24 * 60 * 60 * 1_000_000;
const keptDays = 30;
// The bus keeps messages for 7 days, and dead letters can be given back for half a day more.
const linkedDays = 8;

/** Deletes what is too old, property by property. */
export async function deleteOld(context: WebhookContext, signal: AbortSignal): Promise<void> {
  let after: Uuid = nilUuid;
  for (;;) {
    const page = await pageProperties(context.database, [after, propertiesMax]);
    for (const { property_id: property } of page) {
      if (signal.aborted) return;
      await deleteOldOf(context, property, signal);
    }
    const last = page.at(-1);
    if (!last || page.length < propertiesMax) return;
    after = last.property_id;
  }
}

async function deleteOldOf({ database, clock }: WebhookContext, property: Uuid, signal: AbortSignal): Promise<void> {
  const now = clock.nowMicros();
  const old = formatMicros(now - keptDays * dayMicros);
  // Deliveries first: a message stays as long as it has one.
  for (const step of [deleteOldDeliveries, deleteOldMessages, forgetRedacted]) {
    await inChunks(rowsMax, (rows) => step(database, [property, old, rows]), signal);
  }
  const linkedBefore = formatMicros(now - linkedDays * dayMicros);
  await inChunks(rowsMax, (rows) => forgetLinked(database, [property, linkedBefore, rows]), signal);
  if (!signal.aborted) await deleteOldReplays(database, [property, old]);
}
