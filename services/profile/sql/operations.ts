import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** An operation that was done. */
export interface OperationRow {
  id: Uuid;
  profile_id: Uuid;
  note: Record<string, unknown>;
}

/** One look-up each, because the plan of a plain join depends on statistics. */
export const findOperations = statement<[property: Uuid, ids: readonly Uuid[], now: Instant], OperationRow>(
  "profile.operations.find",
  `SELECT wanted.id, o.profile_id, o.note
   FROM unnest($2::uuid[]) AS wanted (id)
   CROSS JOIN LATERAL (
     SELECT profile_id, note FROM profile.operations WHERE property_id = $1 AND id = wanted.id AND expires_at > $3 LIMIT 1
   ) AS o`,
);

const operations = columns(3, { id: "uuid", profile_id: "uuid", note: "jsonb" });

/** Returns no row for an operation that is already recorded. Inserts in the order of ids, to avoid deadlocks. */
export const insertOperations = statement<
  [property: Uuid, expiresAt: Instant, operations: Rows<typeof operations>],
  { id: Uuid }
>(
  "profile.operations.insert",
  `INSERT INTO profile.operations (property_id, id, profile_id, note, expires_at)
   SELECT $1, o.id, o.profile_id, o.note, $2
   FROM ${operations.as("o")}
   ORDER BY o.id
   ON CONFLICT (property_id, id) DO NOTHING
   RETURNING id`,
  operations,
);

/** Returns one row for each deleted operation. */
export const deleteExpiredOperations = statement<[now: Instant, rowsMax: number], { expired: boolean }>(
  "profile.operations.delete_expired",
  `DELETE FROM profile.operations WHERE ctid = ANY(ARRAY(
     SELECT ctid FROM profile.operations WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
   )) RETURNING true AS expired`,
);
