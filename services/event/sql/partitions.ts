import { isRefused } from "#shared/database/failures.ts";
import { statement, withTransaction, type Database, type Transaction } from "#shared/database/postgres.ts";

/** Reads the catalogue, because to_regclass uses a cache that is stale after waiting for the lock. */
const findTable = statement<[name: string], { found: boolean }>(
  "event.partitions.find",
  `SELECT EXISTS (
     SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'event' AND c.relname = $1
   ) AS found`,
);

/** Lets one process at a time create partitions, until the end of the transaction. */
const lockPartitions = statement<[]>(
  "event.partitions.lock",
  `SELECT pg_advisory_xact_lock(hashtext('daybook event partitions'))`,
);

/**
 * Creates the partition of event.events for ids from `from` up to but without `to`, if it is missing. The table is
 * created first and then attached, because that does not block inserts.
 * @param name of the table, such as `events_2026_11`; it and the bounds are put into the statement unescaped.
 */
export async function createPartition(database: Database, name: string, from: string, to: string): Promise<void> {
  const [before] = await findTable(database, [name]);
  if (before?.found) return;
  await withTransaction(database, async (tx) => {
    await lockPartitions(tx, []);
    const [table] = await findTable(tx, [name]);
    if (table?.found) return;
    await tx.query(`CREATE TABLE event.${name} (LIKE event.events INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`);
    await tx.query(`ALTER TABLE event.events ATTACH PARTITION event.${name} FOR VALUES FROM ('${from}') TO ('${to}')`);
  });
}

const findOlder = statement<[oldestKept: string], { name: string; is_pending: boolean }>(
  "event.partitions.find_older",
  `SELECT c.relname AS name, i.inhdetachpending AS is_pending
   FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent = 'event.events'::regclass AND c.relname < $1
   ORDER BY c.relname`,
);

/** The first tables that were detached, by name, and how many there are. */
export const findDetached = statement<[limit: number], { name: string; count: number }>(
  "event.partitions.find_detached",
  `SELECT c.relname AS name, count(*) OVER () AS count
   FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = 'event' AND c.relkind = 'r' AND c.relname ~ '^events_[0-9]{4}_[0-9]{2}$'
     AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid AND NOT i.inhdetachpending)
   ORDER BY c.relname LIMIT $1`,
);

/**
 * Detaches the partitions before `oldest`, one process at a time. An interrupted detach is finished.
 * @returns the names of the detached partitions.
 */
export async function detachPartitions(database: Database, oldest: string): Promise<string[]> {
  const connection = await database.connect();
  try {
    const lock = "hashtext('daybook event partitions detach')";
    const { rows } = await connection.query<{ mine: boolean }>(`SELECT pg_try_advisory_lock(${lock}) AS mine`);
    if (!rows[0]?.mine) return [];
    try {
      const older = await findOlder(connection, [oldest]);
      for (const { name, is_pending: isPending } of older) {
        const detach = `ALTER TABLE event.events DETACH PARTITION event.${name}`;
        if (isPending) await connection.query(`${detach} FINALIZE`);
        else await detachConcurrently(connection, detach);
      }
      return older.map(({ name }) => name);
    } finally {
      await connection.query(`SELECT pg_advisory_unlock(${lock})`);
    }
  } finally {
    connection.release();
  }
}

// How long statements on events may queue behind a detach that waits for its lock.
const detachLockTimeoutMs = 2_000;

/**
 * CONCURRENTLY does not block others, but cannot run in a transaction. Where it is refused, as on Citus or with a
 * default partition, the detach locks the table. It fails when the lock is not free in time, and the next round of the
 * maintenance tries again.
 */
async function detachConcurrently(connection: Transaction, detach: string): Promise<void> {
  try {
    await connection.query(`${detach} CONCURRENTLY`);
  } catch (error) {
    if (!isRefused(error)) throw error;
    await connection.query("BEGIN");
    try {
      await connection.query(`SET LOCAL lock_timeout = ${detachLockTimeoutMs}`);
      await connection.query(detach);
      await connection.query("COMMIT");
    } catch (failure) {
      await connection.query("ROLLBACK");
      throw failure;
    }
  }
}
