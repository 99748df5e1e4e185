/**
 * Work that is done once. The transaction that does it records its id in `<schema>.operations`, so that a repeat finds
 * it there: a retried write, an item with an idempotency key, or a message that is delivered again.
 */
import { columns, type Rows } from "../database/columns.ts";
import { inChunksByProperty, statement, type Database } from "../database/postgres.ts";
import type { Uuid } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";

/** An operation that was done. */
export interface OperationRow {
  id: Uuid;
  /** A digest of what was asked. Null if the id stands for one request only, which its caller repeats unchanged. */
  fingerprint: Buffer | null;
  /** The result: names and ids only, because values may be personal. */
  note: Record<string, unknown> | null;
}

const rows = columns(1, {
  property_id: "uuid",
  id: "uuid",
  fingerprint: "bytea?",
  note: "jsonb?",
  done_at: "timestamptz",
  expires_at: "timestamptz",
});

const deletedRowsMax = 5_000;

/** Makes the statements over the table `operations` of a schema. */
export function operationStatements(schema: string) {
  const table = `${schema}.operations`;

  /** The next expired rows of all properties. */
  const findExpired = statement<[now: Instant, rowsMax: number], { property_id: Uuid; id: Uuid }>(
    `${table}.find_expired`,
    `SELECT property_id, id FROM ${table} WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2`,
  );

  /** Deletes those rows that are still expired. Skips locked ones. */
  const deleteExpiredRows = statement<[property: Uuid, now: Instant, ids: readonly Uuid[]], { deleted: boolean }>(
    `${table}.delete_expired`,
    `DELETE FROM ${table} WHERE property_id = $1 AND id = ANY(ARRAY(
       SELECT held.id
       FROM unnest($3::uuid[]) AS wanted (id)
       CROSS JOIN LATERAL (
         SELECT id, expires_at FROM ${table} WHERE property_id = $1 AND id = wanted.id LIMIT 1 FOR UPDATE SKIP LOCKED
       ) AS held
       WHERE held.expires_at <= $2
     )) RETURNING true AS deleted`,
  );

  return {
    findExpired,
    deleteExpiredRows,

    /** One look-up each, because the plan of a plain join depends on statistics. */
    find: statement<[property: Uuid, ids: readonly Uuid[], now: Instant], OperationRow>(
      `${table}.find`,
      `SELECT wanted.id, o.fingerprint, o.note
       FROM unnest($2::uuid[]) AS wanted (id)
       CROSS JOIN LATERAL (
         SELECT fingerprint, note FROM ${table}
         WHERE property_id = $1 AND id = wanted.id AND expires_at > $3 LIMIT 1
       ) AS o`,
    ),

    /**
     * Records operations in the transaction that does them. Returns no row for those that are already recorded, and one
     * for an id that is sent twice. Inserts in the order of ids, to avoid deadlocks.
     */
    record: statement<[operations: Rows<typeof rows>], { id: Uuid }>(
      `${table}.record`,
      `INSERT INTO ${table} AS held (property_id, id, fingerprint, note, done_at, expires_at)
       SELECT DISTINCT ON (property_id, id) property_id, id, fingerprint, note, done_at, expires_at
       FROM ${rows.as("o")}
       ORDER BY property_id, id
       ON CONFLICT (property_id, id) DO UPDATE
         SET fingerprint = excluded.fingerprint, note = excluded.note,
             done_at = excluded.done_at, expires_at = excluded.expires_at
         WHERE held.expires_at <= excluded.done_at
       RETURNING id`,
      rows,
    ),

    /** Deletes the operations that have expired, in chunks. */
    async deleteExpired(database: Database, now: Instant, signal: AbortSignal): Promise<void> {
      await inChunksByProperty(
        deletedRowsMax,
        (rowsMax) => findExpired(database, [now, rowsMax]),
        (property, expired) => deleteExpiredRows(database, [property, now, expired.map(({ id }) => id)]),
        signal,
      );
    },
  };
}
