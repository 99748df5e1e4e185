/** Messages with which somebody tests an endpoint. */
import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import type { AttemptEntry } from "../domain/attempt-entry.ts";

/** The tests of an endpoint since an instant, oldest first. */
export const findTests = statement<
  [property: Uuid, endpoint: Uuid, since: Instant, rowsMax: number],
  { created_at: Micros }
>(
  "webhook.tests.find",
  `SELECT created_at FROM webhook.deliveries
   WHERE property_id = $1 AND endpoint_id = $2 AND trigger = 'test' AND created_at > $3 ORDER BY created_at LIMIT $4`,
);

/** Stores a message and its delivery, which has failed until its attempt is noted. */
export const storeTest = statement<
  [property: Uuid, id: Uuid, endpoint: Uuid, message: Uuid, revision: string, body: string, now: Instant]
>(
  "webhook.tests.store",
  `WITH stored AS (
     INSERT INTO webhook.messages (property_id, id, revision, type, body, created_at)
     VALUES ($1, $4, $5, 'webhook.test', $6, $7)
   )
   INSERT INTO webhook.deliveries (property_id, id, endpoint_id, message_id, revision, type, trigger, status,
     created_at, updated_at, completed_at)
   VALUES ($1, $2, $3, $4, $5, 'webhook.test', 'test', 'failed', $7, $7, $7)`,
);

/** Notes the attempt of a test, unless somebody has retried it meanwhile. */
export const noteTest = statement<
  [
    property: Uuid,
    id: Uuid,
    status: "delivered" | "failed",
    responseStatus: number | null,
    error: string | null,
    entry: AttemptEntry,
    now: Instant,
  ]
>(
  "webhook.tests.note",
  `UPDATE webhook.deliveries
   SET status = $3, attempts = 1, response_status = $4, error = $5, attempt_log = jsonb_build_array($6::jsonb),
       updated_at = $7, completed_at = $7
   WHERE property_id = $1 AND id = $2 AND status = 'failed' AND attempts = 0`,
);
