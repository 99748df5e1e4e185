/** The PostgreSQL of all contestants, in a temporary folder. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { newInternalSecret } from "../../deploy/local/state.ts";
import { startPostgres } from "../../deploy/local/postgres.ts";
import type { Owner } from "#shared/process/lifecycle.ts";

/** The database, and a folder for other files. */
export interface BenchDatabase {
  url: string;
  pool: pg.Pool;
  folder: string;
}

const connectionsMax = 4;
// Several Daybooks share it with clients that come directly.
const serverSettings = { max_connections: "400" };
const statementTimeoutMs = 120_000;

/** Starts PostgreSQL in a temporary folder; `owner` deletes it. */
export async function startDatabase(owner: Owner): Promise<BenchDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "daybook-bench-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const server = await startPostgres(join(folder, "postgres"), newInternalSecret(), serverSettings);
  const { superuserUrl: url } = owner.own(server);
  const pool = new pg.Pool({ connectionString: url, max: connectionsMax, statement_timeout: statementTimeoutMs });
  // Idle connections may break during shutdown.
  pool.on("error", () => undefined);
  owner.defer(() => pool.end());
  await pool.query("CREATE SCHEMA bench");
  return { url, pool, folder };
}

/** Creates another database on the same server. */
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
 * Creates a baseline table with the columns, checks and indexes of event.events.
 * @returns its name with its schema.
 */
export async function createEventTable(pool: pg.Pool, name: string): Promise<string> {
  await pool.query(`CREATE TABLE bench.${name} (LIKE event.events INCLUDING ALL)`);
  return `bench.${name}`;
}

/**
 * Creates a baseline table with the columns, checks and indexes of profile.profiles, and a unique email.
 * @returns its name with its schema.
 */
export async function createProfileTable(pool: pg.Pool, name: string): Promise<string> {
  await pool.query(
    `CREATE TABLE bench.${name} (LIKE profile.profiles INCLUDING ALL, email text, UNIQUE (property_id, email))`,
  );
  return `bench.${name}`;
}

export async function countRows(pool: pg.Pool, table: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(`SELECT count(*) AS count FROM ${table}`);
  return Number(rows[0]?.count);
}
