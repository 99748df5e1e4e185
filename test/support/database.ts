/** Databases of their own for tests. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import type { Closable } from "#shared/lifecycle.ts";

/** A database that is dropped when it is closed. */
export interface TestDatabase extends Closable {
  url: string;
}

/** Makes an empty database on the server of `serverUrl`. */
export async function createDatabase(serverUrl: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await execute(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, close: () => execute(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`) };
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
