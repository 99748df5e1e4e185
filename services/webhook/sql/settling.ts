/** What follows when endpoints are disabled or deleted. */
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** Endpoints of all properties that were disabled, and of which not everything is done. */
export const findUnsettled = statement<[rowsMax: number], { property_id: Uuid; id: Uuid }>(
  "webhook.settling.find_unsettled",
  `SELECT property_id, id FROM webhook.endpoints WHERE is_unsettled ORDER BY property_id, id LIMIT $1`,
);

/** Cancels pending deliveries of an endpoint that is disabled. */
export const cancelPending = statement<
  [property: Uuid, endpoint: Uuid, now: Instant, rowsMax: number],
  { cancelled: boolean }
>(
  "webhook.settling.cancel_pending",
  `UPDATE webhook.deliveries SET status = 'cancelled', due_at = NULL, updated_at = $3, completed_at = $3
   WHERE property_id = $1 AND status = 'pending' AND id = ANY(ARRAY(
     SELECT d.id FROM webhook.deliveries d
     WHERE d.property_id = $1 AND d.endpoint_id = $2 AND d.status = 'pending'
       AND EXISTS (SELECT FROM webhook.endpoints WHERE property_id = $1 AND id = $2 AND status = 'disabled')
     LIMIT $4
   ))
   RETURNING true AS cancelled`,
);

/** Everything is done of an endpoint that was disabled at an instant. */
export const noteSettled = statement<[property: Uuid, id: Uuid, disabledAt: Instant]>(
  "webhook.settling.note",
  `UPDATE webhook.endpoints SET is_unsettled = false WHERE property_id = $1 AND id = $2 AND disabled_at = $3`,
);

/** Notes that an endpoint is deleted. */
export const noteDeleted = statement<[property: Uuid, endpoint: Uuid]>(
  "webhook.settling.note_deleted",
  `INSERT INTO webhook.deleted_endpoints (property_id, endpoint_id) VALUES ($1, $2)
   ON CONFLICT (property_id, endpoint_id) DO NOTHING`,
);

/** Endpoints of all properties that were deleted, and may have deliveries. */
export const findDeleted = statement<[rowsMax: number], { property_id: Uuid; endpoint_id: Uuid }>(
  "webhook.settling.find_deleted",
  `SELECT property_id, endpoint_id FROM webhook.deleted_endpoints ORDER BY property_id, endpoint_id LIMIT $1`,
);

/** Deletes deliveries of an endpoint. */
export const deleteDeliveriesOf = statement<[property: Uuid, endpoint: Uuid, rowsMax: number], { deleted: boolean }>(
  "webhook.settling.delete_deliveries",
  `DELETE FROM webhook.deliveries WHERE property_id = $1 AND id = ANY(ARRAY(
     SELECT id FROM webhook.deliveries WHERE property_id = $1 AND endpoint_id = $2 LIMIT $3
   ))
   RETURNING true AS deleted`,
);

/** The deliveries of a deleted endpoint are gone. */
export const forgetDeleted = statement<[property: Uuid, endpoint: Uuid]>(
  "webhook.settling.forget_deleted",
  `DELETE FROM webhook.deleted_endpoints WHERE property_id = $1 AND endpoint_id = $2`,
);
