import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

const batches = columns(2, { property_id: "uuid", id: "uuid" });

/** Records batches as counted. Those recorded before give no row. */
export const takeBatches = statement<[now: Instant, batches: Rows<typeof batches>], { id: Uuid }>(
  "metric.batches.take",
  `INSERT INTO metric.batches (property_id, id, taken_at)
   SELECT b.property_id, b.id, $1 FROM ${batches.as("b")}
   ORDER BY b.property_id, b.id
   ON CONFLICT DO NOTHING
   RETURNING id`,
  batches,
);

/** Gives a row for each deleted batch. */
export const deleteBatches = statement<[takenBefore: Instant, rowsMax: number], { gone: boolean }>(
  "metric.batches.delete",
  `DELETE FROM metric.batches WHERE ctid = ANY(ARRAY(
     SELECT ctid FROM metric.batches WHERE taken_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED
   )) RETURNING true AS gone`,
);

/** The recorded ones of some batches. */
export const findBatches = statement<[property: Uuid, ids: readonly Uuid[]], { id: Uuid }>(
  "metric.batches.find",
  `SELECT b.id
   FROM unnest($2::uuid[]) AS wanted (id)
   CROSS JOIN LATERAL (SELECT id FROM metric.batches WHERE property_id = $1 AND id = wanted.id LIMIT 1) b`,
);
