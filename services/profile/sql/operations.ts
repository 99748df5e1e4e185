import { statement } from "#shared/postgres.ts";

/** An operation that was done. */
export interface OperationRow {
  profile_id: string;
  note: Record<string, unknown>;
}

/** $1 property_id, $2 id, $3 now */
export const findOperation = statement<OperationRow>(
  "profile.operations.find",
  `SELECT profile_id, note FROM profile.operations WHERE property_id = $1 AND id = $2 AND expires_at > $3`,
);

/** Gives no row when somebody else did it. $1 property_id, $2 id, $3 profile_id, $4 note, $5 expires_at */
export const insertOperation = statement<{ id: string }>(
  "profile.operations.insert",
  `INSERT INTO profile.operations (property_id, id, profile_id, note, expires_at) VALUES ($1, $2, $3, $4, $5)
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
