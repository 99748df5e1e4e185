/** Replays: what is sent again from what is stored. */
import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** Where a replay goes on: behind an event, or behind a stored message. */
export interface ReplayPosition {
  phase: "events" | "messages";
  time: Instant;
  id: Uuid;
}

/** A row of webhook.replays. */
export interface ReplayRow {
  property_id: Uuid;
  id: Uuid;
  endpoint_id: Uuid;
  starts_at: Micros;
  ends_at: Micros;
  types: string[];
  only_failed: boolean;
  status: "processing" | "complete" | "cancelled";
  position: ReplayPosition | null;
  deliveries: number;
  created_at: Micros;
  completed_at: Micros | null;
}

const shown = `property_id, id, endpoint_id, starts_at, ends_at, types, only_failed, status, position, deliveries,
  created_at, completed_at`;

/** Makes one. No row if it is there already, or another of the endpoint is under way. */
export const insertReplay = statement<
  [
    property: Uuid,
    id: Uuid,
    endpoint: Uuid,
    from: Instant,
    to: Instant,
    types: readonly string[],
    onlyFailed: boolean,
    now: Instant,
  ],
  ReplayRow
>(
  "webhook.replays.insert",
  `INSERT INTO webhook.replays (property_id, id, endpoint_id, starts_at, ends_at, types, only_failed, status, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, 'processing', $8)
   ON CONFLICT DO NOTHING
   RETURNING ${shown}`,
);

/** Reads one. */
export const readReplay = statement<[property: Uuid, id: Uuid], ReplayRow>(
  "webhook.replays.read",
  `SELECT ${shown} FROM webhook.replays WHERE property_id = $1 AND id = $2`,
);

/** Those of a property that are under way. */
export const listProcessing = statement<[property: Uuid], ReplayRow>(
  "webhook.replays.list_processing",
  `SELECT ${shown} FROM webhook.replays WHERE property_id = $1 AND status = 'processing'`,
);

/** A page of those of all properties that are under way. */
export const findProcessing = statement<[after: Uuid, rowsMax: number], { property_id: Uuid; id: Uuid }>(
  "webhook.replays.find_processing",
  `SELECT property_id, id FROM webhook.replays WHERE status = 'processing' AND id > $1 ORDER BY id LIMIT $2`,
);

/** Goes on behind a position. No row if another process was faster. */
export const advanceReplay = statement<
  [
    property: Uuid,
    id: Uuid,
    before: ReplayPosition | null,
    position: ReplayPosition | null,
    status: ReplayRow["status"],
    now: Instant,
    made: number,
  ],
  { id: Uuid }
>(
  "webhook.replays.advance",
  `UPDATE webhook.replays
   SET position = $4::jsonb, deliveries = deliveries + $7, status = $5, completed_at = CASE WHEN $5 <> 'processing' THEN $6::timestamptz END
   WHERE property_id = $1 AND id = $2 AND status = 'processing' AND position IS NOT DISTINCT FROM $3::jsonb
   RETURNING id`,
);

/** The deliveries of messages to an endpoint. */
export const findDeliveries = statement<
  [property: Uuid, endpoint: Uuid, messages: readonly Uuid[]],
  { id: Uuid; message_id: Uuid; status: string }
>(
  "webhook.replays.find_deliveries",
  `SELECT d.id, d.message_id, d.status FROM unnest($3::uuid[]) AS wanted (message_id)
   CROSS JOIN LATERAL (
     SELECT id, message_id, status FROM webhook.deliveries
     WHERE property_id = $1 AND message_id = wanted.message_id AND endpoint_id = $2
     LIMIT 1000
   ) AS d`,
);

/** A stored message. */
export interface StoredRow {
  id: Uuid;
  revision: string;
  type: string;
  event_id: Uuid | null;
  /** Only of `webhook_endpoint.disabled`. */
  body: string | null;
  created_at: Micros;
}

/** A page of stored messages of some types, in the order in which they were made. */
export const pageStored = statement<
  [
    property: Uuid,
    types: readonly string[],
    from: Instant,
    before: Instant,
    afterTime: Instant,
    after: Uuid,
    rowsMax: number,
  ],
  StoredRow
>(
  "webhook.replays.page_stored",
  `SELECT id, revision, type, event_id, CASE WHEN type = 'webhook_endpoint.disabled' THEN body END AS body, created_at
   FROM webhook.messages
   WHERE property_id = $1 AND type = ANY($2::text[]) AND created_at >= $3 AND created_at < $4 AND body IS NOT NULL
     AND (created_at, id) > ($5, $6)
   ORDER BY created_at, id LIMIT $7`,
);

const deliveries = columns(3, { id: "uuid", endpoint_id: "uuid", message_id: "uuid", revision: "text", type: "text" });

/** Makes deliveries of stored messages, due at once. Those that are there stay as they are. */
export const storeDeliveries = statement<
  [property: Uuid, now: Instant, deliveries: Rows<typeof deliveries>],
  { id: Uuid }
>(
  "webhook.replays.store_deliveries",
  `INSERT INTO webhook.deliveries (property_id, id, endpoint_id, message_id, revision, type, trigger, status, due_at,
     created_at, updated_at)
   SELECT $1, d.id, d.endpoint_id, d.message_id, d.revision, d.type, 'replay', 'pending', $2, $2, $2
   FROM ${deliveries.as("d")}
   ORDER BY d.id
   ON CONFLICT (property_id, id) DO NOTHING
   RETURNING id`,
  deliveries,
);

/** Deletes those that were made before an instant. */
export const deleteOldReplays = statement<[property: Uuid, before: Instant]>(
  "webhook.replays.delete_old",
  `DELETE FROM webhook.replays WHERE property_id = $1 AND created_at < $2 AND status <> 'processing'`,
);
