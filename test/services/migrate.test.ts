import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { migrate } from "#shared/database/migrate.ts";
import { openDatabase, type Database } from "#shared/database/postgres.ts";
import { startService } from "#shared/process/start.ts";
import { createDatabase } from "../support/database.ts";
import { startSingleProcess } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

let owner: Owner;
let url: string;
beforeEach(async () => {
  owner = new Owner();
  ({ url } = owner.own(await createDatabase(inject("databaseUrl"))));
});
afterEach(() => owner.close());

const log = createLog("test", "silent");

function open(statementTimeoutMs?: number): Database {
  const database = openDatabase({ url, applicationName: "test", connectionsMax: 2, statementTimeoutMs, log });
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

/** Migrates as a service does at its start. */
function start(folder: string, statementTimeoutMs?: number): Promise<void> {
  const database = open(statementTimeoutMs);
  const nothing = (): Promise<void> => Promise.resolve();
  const service = { routes: () => undefined, checkReady: nothing, close: nothing };
  return startService({ ...service, start: () => migrate(database, "s", folder) }, log, new AbortController().signal);
}

/** The statements that run in this database and match a pattern. */
async function readRunning(database: Database, pattern: string): Promise<{ pid: number; query: string }[]> {
  const { rows } = await database.query<{ pid: number; query: string }>(
    `SELECT pid, query FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'active' AND query LIKE $1 AND pid <> pg_backend_pid()`,
    [pattern],
  );
  return rows;
}

test("a statement that takes long is not cut short, and neither are those that wait for it", async () => {
  const folder = await folderWith({
    "0001_init.sql": "CREATE TABLE s.t (n integer); SELECT pg_sleep(7); INSERT INTO s.t VALUES (1);",
  });
  // The second waits for longer than one turn.
  await Promise.all([start(folder, 200), start(folder, 200)]);
  const { rows } = await open().query("SELECT n FROM s.t");
  expect(rows).toEqual([{ n: 1 }]);
});

test("each statement is sent by itself", async () => {
  const folder = await folderWith({
    "0001_init.sql": "CREATE TABLE s.t (n integer);\n-- A pause; no end.\nSELECT pg_sleep(3), ';';\nSELECT 1;",
  });
  const started = start(folder);
  const database = open();
  const [running] = await eventually(async () => {
    const found = await readRunning(database, "%pg_sleep%");
    return found.length > 0 ? found : undefined;
  });
  expect(running?.query).toBe("-- A pause; no end.\nSELECT pg_sleep(3), ';'");
  await started;
});

test("one that waits for a table lets others at it, and goes on when the table is free", async () => {
  const folder = await folderWith({ "0001_init.sql": "CREATE TABLE s.t (n integer);" });
  await start(folder);
  await writeFile(join(folder, "0002_more.sql"), "ALTER TABLE s.t ADD COLUMN m integer;");
  const holder = await open().connect();
  await holder.query("BEGIN");
  await holder.query("SELECT FROM s.t");
  const started = start(folder);
  const other = open();
  await eventually(async () => ((await readRunning(other, "ALTER TABLE%")).length > 0 ? true : undefined));
  // They queue behind the migration, which gives up its place.
  for (let turn = 0; turn < 3; turn++) await other.query("SELECT n FROM s.t");
  await holder.query("COMMIT");
  holder.release();
  await started;
  expect((await other.query("SELECT m FROM s.t")).fields.map(({ name }) => name)).toEqual(["m"]);
});

test("when one is killed in the middle another does all of it", async () => {
  const folder = await folderWith({
    "0001_init.sql": "CREATE TABLE s.t (n integer);",
    "0002_more.sql": "INSERT INTO s.t VALUES (1); SELECT pg_sleep(1.5); INSERT INTO s.t VALUES (2);",
  });
  const started = Promise.all([1, 2, 3].map(() => start(folder)));
  const database = open();
  const killed = new Set<number>();
  while (killed.size < 3) {
    const [running] = await eventually(async () => {
      const found = (await readRunning(database, "%pg_sleep%")).filter(({ pid }) => !killed.has(pid));
      return found.length > 0 ? found : undefined;
    });
    await database.query("SELECT pg_terminate_backend($1)", [running?.pid]);
    killed.add(running?.pid ?? 0);
  }
  await started;
  const { rows } = await database.query("SELECT n FROM s.t ORDER BY n");
  expect(rows).toEqual([{ n: 1 }, { n: 2 }]);
});

test("three whole Daybooks that start at once on an empty database all come up, with one set of demo properties", async () => {
  await Promise.all([1, 2, 3].map(() => startSingleProcess(owner, { databaseUrl: url })));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("SELECT mode FROM identity.properties ORDER BY mode");
  await client.end();
  expect(rows).toEqual([{ mode: "live" }, { mode: "test" }]);
});
