import { statement, withTransaction, type Database } from "#shared/postgres.ts";

/** $1 name. Asks the catalogue's table, as to_regclass would answer from a cache that a wait for the lock leaves stale. */
const findTable = statement<{ found: boolean }>(
  "event.partitions.find",
  `SELECT EXISTS (
     SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'event' AND c.relname = $1
   ) AS found`,
);

/** Lets one process at a time make partitions. Held to the end of the transaction. */
const lockPartitions = statement(
  "event.partitions.lock",
  `SELECT pg_advisory_xact_lock(hashtext('daybook event partitions'))`,
);

/**
 * Makes the partition of event.events for ids from `from` up to and without `to`, if it is missing. Attached, not created in place:
 * that lets events be recorded meanwhile.
 * @param name of the table, such as `events_2026_11`; it and the bounds are put into the statement as they are.
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
