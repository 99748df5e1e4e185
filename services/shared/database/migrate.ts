/** Numbered SQL migrations, forward only. When several processes start at once, one migrates and the others wait. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { splitStatements } from "./split.ts";
import { withTransaction, type Database, type Transaction } from "./postgres.ts";

const fileName = /^(\d{4})_[a-z0-9_]+\.sql$/;

/** How long a process waits for its turn. */
const turnTimeoutMs = 5_000;
/** How long a statement waits for a lock. Whoever else wants the table waits behind it, so this is short. */
const lockTimeoutMs = 1_000;

/**
 * Applies the files of a folder (`0001_init.sql`, …) to a schema: all in one transaction, statement by statement.
 * @param schema created if it is missing; its table `migrations` records the applied files.
 * @throws Error when a file was changed after it had been applied, or a lock timeout (`isLockTimeout`), for a retry.
 */
export async function migrate(database: Database, schema: string, folder: string): Promise<void> {
  const files = (await readdir(folder)).filter((name) => fileName.test(name)).toSorted();
  await withTransaction(database, async (tx) => {
    // An index of a large table takes longer than any statement of a request may.
    await tx.query("SET LOCAL statement_timeout = 0");
    await tx.query(`SET LOCAL lock_timeout = ${turnTimeoutMs}`);
    await tx.query("SELECT pg_advisory_xact_lock(hashtext($1))", [`daybook migrations of ${schema}`]);
    await tx.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
    const applied = await readApplied(tx, schema);
    for (const name of files) {
      const sql = await readFile(join(folder, name), "utf8");
      const checksum = createHash("sha256").update(sql).digest("hex");
      const known = applied.get(name);
      if (known !== undefined) {
        if (known !== checksum) throw new Error(`migration ${schema}/${name} was changed after it had been applied`);
        continue;
      }
      for (const text of splitStatements(sql)) await tx.query(text);
      await tx.query(`INSERT INTO ${schema}.migrations (name, checksum) VALUES ($1, $2)`, [name, checksum]);
    }
  });
}

async function readApplied(tx: Transaction, schema: string): Promise<Map<string, string>> {
  await tx.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
  await tx.query(
    `CREATE TABLE IF NOT EXISTS ${schema}.migrations (
       name text PRIMARY KEY,
       checksum text NOT NULL,
       applied_at timestamptz NOT NULL DEFAULT now()
     )`,
  );
  const { rows } = await tx.query<{ name: string; checksum: string }>(
    `SELECT name, checksum FROM ${schema}.migrations`,
  );
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}
