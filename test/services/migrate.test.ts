import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { migrate } from "#shared/database/migrate.ts";
import { openDatabase, type Database } from "#shared/database/postgres.ts";
import { createDatabase } from "../support/database.ts";
import { startSingleProcess } from "../support/daybook.ts";

let owner: Owner;
let url: string;
beforeEach(async () => {
  owner = new Owner();
  ({ url } = owner.own(await createDatabase(inject("databaseUrl"))));
});
afterEach(() => owner.close());

function open(): Database {
  const database = openDatabase({ url, applicationName: "test", connectionsMax: 2, log: createLog("test", "fatal") });
  owner.defer(() => database.end());
  return database;
}

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "daybook-migrations-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  for (const [name, sql] of Object.entries(files)) await writeFile(join(folder, name), sql);
  return folder;
}

test("ten that start at once migrate once", async () => {
  const folder = await folderWith({
    "0001_init.sql": "CREATE TABLE s.t (n integer); INSERT INTO s.t VALUES (1); SELECT pg_sleep(0.1);",
    "0002_more.sql": "INSERT INTO s.t VALUES (2);",
  });
  await Promise.all(Array.from({ length: 10 }, () => migrate(open(), "s", folder)));
  const { rows } = await open().query("SELECT n FROM s.t ORDER BY n");
  expect(rows).toEqual([{ n: 1 }, { n: 2 }]);
});

test("one that fails leaves nothing, and is whole when it is mended", async () => {
  const broken = await folderWith({
    "0001_init.sql": "CREATE TABLE s.t (n integer);",
    "0002_bad.sql": "SELECT nothing;",
  });
  await expect(migrate(open(), "s", broken)).rejects.toThrow(/nothing/);
  const { rows } = await open().query("SELECT to_regclass('s.t') AS found");
  expect(rows).toEqual([{ found: null }]);
  await writeFile(join(broken, "0002_bad.sql"), "SELECT 1;");
  await migrate(open(), "s", broken);
});

test("one that was changed after it had been applied is refused", async () => {
  const folder = await folderWith({ "0001_init.sql": "CREATE TABLE s.t (n integer);" });
  await migrate(open(), "s", folder);
  await writeFile(join(folder, "0001_init.sql"), "CREATE TABLE s.t (n bigint);");
  await expect(migrate(open(), "s", folder)).rejects.toThrow(/was changed/);
});

test("three whole Daybooks that start at once on an empty database all come up, with one set of demo properties", async () => {
  await Promise.all([1, 2, 3].map(() => startSingleProcess(owner, { databaseUrl: url })));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("SELECT mode FROM identity.properties ORDER BY mode");
  await client.end();
  expect(rows).toEqual([{ mode: "live" }, { mode: "test" }]);
});
