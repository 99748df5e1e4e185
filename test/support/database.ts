/** Databases for single tests. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Closable } from "#shared/process/lifecycle.ts";

/** A database that is dropped when it is closed. */
export interface TestDatabase extends Closable {
  url: string;
}

/** Creates an empty database on the server of `serverUrl`. */
export async function createDatabase(serverUrl: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await execute(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, close: () => drop(serverUrl, name) };
}

const dropTimeoutMs = 60_000;
const dropRetryMs = 100;
const insufficientPrivilege = "42501";

/** Drops a database and its connections. Waits for autovacuum workers, because only a superuser can end them. */
async function drop(serverUrl: string, name: string): Promise<void> {
  const deadlineMs = performance.now() + dropTimeoutMs;
  for (;;) {
    try {
      return await execute(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    } catch (error) {
      const mayPass = error instanceof pg.DatabaseError && error.code === insufficientPrivilege;
      if (!mayPass || performance.now() > deadlineMs) throw error;
      await sleep(dropRetryMs);
    }
  }
}

export async function execute(url: string, sql: string): Promise<void> {
  await queryRows(url, sql);
}

/** Runs a statement on a connection of its own. */
export async function queryRows<Row extends object>(
  url: string,
  sql: string,
  parameters?: readonly unknown[],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql, parameters && [...parameters])).rows;
  } finally {
    await client.end();
  }
}
