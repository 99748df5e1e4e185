import { statement, withTransaction, type Database } from "#shared/postgres.ts";

const findTable = statement<{ found: boolean }>("event.partitions.find", `SELECT to_regclass($1) IS NOT NULL AS found`);

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
  const [before] = await findTable(database, [`event.${name}`]);
  if (before?.found) return;
  await withTransaction(database, async (tx) => {
    await lockPartitions(tx, []);
    const [table] = await findTable(tx, [`event.${name}`]);
    if (table?.found) return;
    await tx.query(`CREATE TABLE event.${name} (LIKE event.events INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`);
    await tx.query(`ALTER TABLE event.events ATTACH PARTITION event.${name} FOR VALUES FROM ('${from}') TO ('${to}')`);
  });
}
