/** Deliveries on their way: what is due is leased by moving `due_at` ahead, and what became of it is recorded. */
import { columns, type Rows } from "#shared/database/columns.ts";
import { plannedStatement, statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** A delivery that this process has. */
export interface ClaimedRow {
  id: Uuid;
  message_id: Uuid;
  attempts: number;
  /** Null once it was emptied. */
  body: string | null;
}

/**
 * Leases deliveries of an endpoint that are due, the oldest first, until an instant. What another process has locked is
 * skipped, so two never get the same one.
 */
export const claimDue = statement<
  [property: Uuid, endpoint: Uuid, now: Instant, leaseUntil: Instant, rowsMax: number],
  ClaimedRow
>(
  "webhook.deliveries.claim_due",
  `WITH claimed AS (
     UPDATE webhook.deliveries SET due_at = $4
     WHERE property_id = $1 AND status = 'pending' AND due_at <= $3 AND id = ANY(ARRAY(
       SELECT id FROM webhook.deliveries
       WHERE property_id = $1 AND endpoint_id = $2 AND status = 'pending' AND due_at <= $3
       ORDER BY due_at LIMIT $5 FOR UPDATE SKIP LOCKED
     ))
     RETURNING id, message_id, revision, attempts
   )
   SELECT c.id, c.message_id, c.attempts, m.body
   FROM claimed c
   LEFT JOIN LATERAL (
     SELECT body FROM webhook.messages WHERE property_id = $1 AND id = c.message_id AND revision = c.revision LIMIT 1
   ) AS m ON true
   ORDER BY c.id`,
);

const results = columns(3, {
  id: "uuid",
  attempts: "integer",
  status: "text",
  due_at: "timestamptz?",
  response_status: "integer?",
  error: "text?",
  entry: "jsonb",
  completed_at: "timestamptz?",
});

/** What became of an attempt. `attempts` are those before it. */
export type ResultRow = Rows<typeof results>[number];

/**
 * Records attempts of a property. A delivery that is not pending any more, or that another process has tried
 * meanwhile, stays as it is. The log keeps the newest attempts.
 */
export const recordResults = statement<[property: Uuid, now: Instant, results: Rows<typeof results>]>(
  "webhook.deliveries.record_results",
  `UPDATE webhook.deliveries AS d
   SET status = r.status, attempts = r.attempts + 1, due_at = r.due_at, response_status = r.response_status,
     error = r.error, updated_at = $2, completed_at = r.completed_at,
     attempt_log = CASE WHEN jsonb_array_length(d.attempt_log) < 20 THEN d.attempt_log ELSE d.attempt_log - 0 END
       || r.entry
   FROM ${results.as("r")}
   WHERE d.property_id = $1 AND d.id = ANY(${results.array("id")}) AND d.id = r.id
     AND d.status = 'pending' AND d.attempts = r.attempts`,
  results,
);

/** Makes deliveries due that this process has leased and will not send. */
export const giveBack = statement<[property: Uuid, ids: readonly Uuid[], now: Instant]>(
  "webhook.deliveries.give_back",
  `UPDATE webhook.deliveries SET due_at = $3 WHERE property_id = $1 AND id = ANY($2::uuid[]) AND status = 'pending'`,
);

/** Cancels deliveries whose message was emptied. */
export const cancelEmptied = statement<[property: Uuid, ids: readonly Uuid[], now: Instant]>(
  "webhook.deliveries.cancel_emptied",
  `UPDATE webhook.deliveries SET status = 'cancelled', due_at = NULL, updated_at = $3, completed_at = $3
   WHERE property_id = $1 AND id = ANY($2::uuid[]) AND status = 'pending'`,
);

/** The next enabled endpoints of all properties that have deliveries that are due. */
export const findDue = plannedStatement<
  [afterProperty: Uuid, afterEndpoint: Uuid, now: Instant, rowsMax: number],
  { property_id: Uuid; id: Uuid }
>(
  `SELECT e.property_id, e.id FROM webhook.endpoints e
   WHERE (e.property_id, e.id) > ($1, $2) AND e.status = 'enabled' AND EXISTS (
     SELECT FROM webhook.deliveries d
     WHERE d.property_id = e.property_id AND d.endpoint_id = e.id AND d.status = 'pending' AND d.due_at <= $3
   )
   ORDER BY e.property_id, e.id LIMIT $4`,
);

/** Counts what is pending, up to a number, with the earliest instant at which any of it was due. */
export const measurePending = plannedStatement<[rowsMax: number], { pending: number; due_at: Micros | null }>(
  `SELECT count(*) AS pending, min(due_at) AS due_at
   FROM (SELECT due_at FROM webhook.deliveries WHERE status = 'pending' LIMIT $1) AS waiting`,
);
