import { statement } from "#shared/database/postgres.ts";

/** An operation that was done. */
export interface OperationRow {
  id: string;
  profile_id: string;
  note: Record<string, unknown>;
}

/** $1 property_id, $2 ids, $3 now. One look-up each, as a plain join is planned by statistics. */
export const findOperations = statement<OperationRow>(
  "profile.operations.find",
  `SELECT wanted.id, o.profile_id, o.note
   FROM unnest($2::uuid[]) AS wanted (id)
   CROSS JOIN LATERAL (
     SELECT profile_id, note FROM profile.operations WHERE property_id = $1 AND id = wanted.id AND expires_at > $3 LIMIT 1
   ) AS o`,
);

/** Gives no row for one that somebody else did. In the order of ids. $1 property_id, $2 ids, $3 profile ids, $4 notes, $5 expires_at */
export const insertOperations = statement<{ id: string }>(
  "profile.operations.insert",
  `INSERT INTO profile.operations (property_id, id, profile_id, note, expires_at)
   SELECT $1, o.id, o.profile_id, o.note, $5
   FROM unnest($2::uuid[], $3::uuid[], $4::jsonb[]) AS o (id, profile_id, note)
   ORDER BY o.id
   ON CONFLICT (property_id, id) DO NOTHING
   RETURNING id`,
);

/** $1 now, $2 rows at most. One row for each operation removed. */
export const deleteExpiredOperations = statement<{ expired: boolean }>(
  "profile.operations.delete_expired",
  `DELETE FROM profile.operations WHERE ctid = ANY(ARRAY(
     SELECT ctid FROM profile.operations WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
   )) RETURNING true AS expired`,
);
