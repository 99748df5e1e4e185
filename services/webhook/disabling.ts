/** What follows when an endpoint is disabled or deleted. A process that is killed meanwhile leaves it to the next. */
import { inChunks, withTransaction } from "#shared/database/postgres.ts";
import { repeat, type Repeated } from "#shared/scheduling/repeat.ts";
import { deriveUuid, encodeId, type Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { endpointJson } from "#shared/wire/webhooks.ts";
import type { WebhookContext } from "./context.ts";
import { fanOut } from "./fan-out.ts";
import { toEndpoint } from "./mapping.ts";
import { deleteEndpoint, readEndpoint } from "./sql/endpoints.ts";
import {
  cancelPending,
  deleteDeliveriesOf,
  findDeleted,
  findUnsettled,
  forgetDeleted,
  noteDeleted,
  noteSettled,
} from "./sql/settling.ts";

const lookIntervalMs = 2_000;
const rowsMax = 1_000;
const endpointsMax = 100;

/** Deletes an endpoint, and its deliveries soon after. */
export async function deleteWithDeliveries(context: WebhookContext, property: Uuid, id: Uuid): Promise<void> {
  await withTransaction(context.database, async (tx) => {
    await noteDeleted(tx, [property, id]);
    await deleteEndpoint(tx, [property, id]);
  });
  context.endpointChanged(id);
  context.settling.wake();
}

/**
 * Cancels the deliveries of endpoints that were disabled, tells the other endpoints, and deletes the deliveries of
 * those that were deleted, until it is closed.
 */
export function settleEndpoints(context: WebhookContext): Repeated {
  const { database, log } = context;
  return repeat(lookIntervalMs, log, "settle endpoints that were disabled", async (signal) => {
    for (const { property_id: property, id } of await findUnsettled(database, [endpointsMax])) {
      if (!signal.aborted) await settle(context, property, id);
    }
    for (const { property_id: property, endpoint_id: id } of await findDeleted(database, [endpointsMax])) {
      await inChunks(rowsMax, (rows) => deleteDeliveriesOf(database, [property, id, rows]), signal);
      if (!signal.aborted) await forgetDeleted(database, [property, id]);
    }
  });
}

async function settle(context: WebhookContext, property: Uuid, id: Uuid): Promise<void> {
  const { database, clock } = context;
  const [row] = await readEndpoint(database, [property, id]);
  if (!row?.is_unsettled || row.status !== "disabled" || row.disabled_at === null) return;
  context.endpointChanged(id);
  const now = formatMicros(clock.nowMicros());
  await inChunks(rowsMax, (rows) => cancelPending(database, [property, id, now, rows]));
  const data = endpointJson(toEndpoint(row));
  await fanOut(context, [
    {
      property,
      type: "webhook_endpoint.disabled",
      // It may be disabled again, and that is another message.
      id: deriveUuid(id, `webhook_endpoint.disabled ${row.disabled_at}`),
      at: row.disabled_at,
      data: () => data,
      exceptEndpoint: id,
    },
  ]);
  await noteSettled(database, [property, id, formatMicros(row.disabled_at)]);
  context.log.info({ endpoint: encodeId("hook", id), reason: row.disabled_reason }, "a webhook endpoint was disabled");
}
