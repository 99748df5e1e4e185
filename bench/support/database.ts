/** The one PostgreSQL that all contestants share, on files that are gone afterwards. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { newInternalSecret } from "../../deploy/local/state.ts";
import { startPostgres } from "../../deploy/local/postgres.ts";
import type { Owner } from "#shared/process/lifecycle.ts";

/** The database, and a folder for whatever else a run needs. */
export interface BenchDatabase {
  url: string;
  pool: pg.Pool;
  folder: string;
}

const connectionsMax = 4;
const statementTimeoutMs = 120_000;

/** Starts PostgreSQL in a temporary folder; `owner` takes it away again. */
export async function startDatabase(owner: Owner): Promise<BenchDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "daybook-bench-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const { superuserUrl: url } = owner.own(await startPostgres(join(folder, "postgres"), newInternalSecret()));
  const pool = new pg.Pool({ connectionString: url, max: connectionsMax, statement_timeout: statementTimeoutMs });
  // An idle connection may break while all is being closed.
  pool.on("error", () => undefined);
  owner.defer(() => pool.end());
  await pool.query("CREATE SCHEMA bench");
  return { url, pool, folder };
}

/** Makes another database on the same server. */
export async function createDatabase(server: BenchDatabase, name: string, owner: Owner): Promise<BenchDatabase> {
  await server.pool.query(`CREATE DATABASE ${name}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: connectionsMax, statement_timeout: statementTimeoutMs });
  pool.on("error", () => undefined);
  owner.defer(() => pool.end());
  return { url: url.href, pool, folder: join(server.folder, name) };
}

/**
 * Makes a table for a baseline with the columns, the checks and the indexes of event.events.
 * @returns its name with its schema.
 */
export async function createEventTable(pool: pg.Pool, name: string): Promise<string> {
  await pool.query(`CREATE TABLE bench.${name} (LIKE event.events INCLUDING ALL)`);
  return `bench.${name}`;
}

/**
 * Makes a table for a baseline with the columns, the checks and the indexes of profile.profiles, and an email that is unique.
 * @returns its name with its schema.
 */
export async function createProfileTable(pool: pg.Pool, name: string): Promise<string> {
  await pool.query(
    `CREATE TABLE bench.${name} (LIKE profile.profiles INCLUDING ALL, email text, UNIQUE (property_id, email))`,
  );
  return `bench.${name}`;
}

/** Counts the rows of a table. */
export async function countRows(pool: pg.Pool, table: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(`SELECT count(*) AS count FROM ${table}`);
  return Number(rows[0]?.count);
}
