/** Partitions of events: there before they are needed, without a gap, and old ones taken out while others record. */
import pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createLocalBus } from "#shared/bus/local.ts";
import { lowestUuidAt } from "#shared/values/ids.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { migrate } from "#shared/database/migrate.ts";
import { openDatabase, type Database } from "#shared/database/postgres.ts";
import { createReads } from "#shared/database/reads.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { createPartitions, detachOld } from "../../services/event/maintenance.ts";
import { createDatabase } from "../support/database.ts";
import { eventually } from "../support/processes.ts";

const owner = new Owner();
const log = createLog("test", "silent");
let url: string;
let database: Database;

beforeAll(async () => {
  ({ url } = owner.own(await createDatabase(inject("databaseUrl"))));
  database = openDatabase({ url, applicationName: "test", connectionsMax: 8, log });
  owner.defer(() => database.end());
  await migrate(database, "event", "services/event/migrations");
});
afterAll(() => owner.close());

function at(time: string): ServiceContext {
  const clock = { nowMicros: () => Date.parse(time) * 1000 };
  return {
    database,
    reads: createReads(database, log),
    bus: createLocalBus(log),
    clock,
    log,
    registry: createRegistry(),
  };
}

const property = "01980000-0000-7000-8000-000000000001";

async function insert(client: Pick<pg.Client, "query">, id: string): Promise<void> {
  await client.query(
    `INSERT INTO event.events (property_id, id, type, properties, occurred_at, received_at, source, backfill)
     VALUES ($1, $2, 'a.b', '{}', now(), now(), 'api', false)`,
    [property, id],
  );
}

/** Which table each event is in, by id. */
async function tables(): Promise<Map<string, string>> {
  const { rows } = await database.query<{ id: string; name: string }>(
    "SELECT id, tableoid::regclass::text AS name FROM event.events",
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

test("a month's turn finds its partition there, from the first millisecond to the last", async () => {
  await createPartitions(at("2024-01-31T23:59:59.999Z"));
  const turn = Date.parse("2024-02-01T00:00:00Z");
  const ids = [lowestUuidAt(turn - 1).replace(/0000-0{12}$/, "ffff-ffffffffffff"), lowestUuidAt(turn)] as const;
  for (const id of ids) await insert(database, id);
  // Three months later, and a leap day in between, without another look.
  const last = lowestUuidAt(Date.parse("2024-04-30T23:59:59.999Z"));
  await insert(database, last);
  const found = await tables();
  expect(ids.map((id) => found.get(id))).toEqual(["event.events_2024_01", "event.events_2024_02"]);
  expect(found.get(last)).toBe("event.events_2024_04");
});

test("ten that look at once make each once", async () => {
  await Promise.all(Array.from({ length: 10 }, () => createPartitions(at("2025-06-15T00:00:00Z"))));
  const { rows } = await database.query(
    "SELECT relname FROM pg_class WHERE relname LIKE 'events_2025%' AND relkind = 'r' ORDER BY 1",
  );
  expect(rows.map(({ relname }) => relname)).toEqual([5, 6, 7, 8, 9].map((month) => `events_2025_0${month}`));
});

test("what lies further back than the setting is detached while others record, and its table stays", async () => {
  await createPartitions(at("2025-06-15T00:00:00Z"));
  const recent = lowestUuidAt(Date.parse("2025-06-15T00:00:00Z"));
  const writer = new pg.Client({ connectionString: url });
  await writer.connect();
  try {
    await writer.query("BEGIN");
    await insert(writer, recent);
    // Two at once; one of them has to wait for the writer, and nobody else has to.
    const detaching = Promise.all([1, 2].map(() => detachOld(at("2025-06-15T00:00:00Z"), 3)));
    await eventually(async () => {
      const { rows } = await database.query("SELECT FROM pg_inherits WHERE inhdetachpending");
      return rows.length > 0 ? true : undefined;
    });
    await insert(database, lowestUuidAt(Date.parse("2025-06-15T00:00:01Z")));
    await writer.query("COMMIT");
    await detaching;
  } finally {
    await writer.end();
  }
  const found = await tables();
  expect([...found.values()].every((name) => name >= "event.events_2025_03")).toBe(true);
  expect(found.has(recent)).toBe(true);
  const kept = await database.query("SELECT count(*)::int AS count FROM event.events_2024_02");
  expect(kept.rows).toEqual([{ count: 1 }]);
});

test("where a detach that blocks nobody is refused, it waits for its lock a short time, and comes again", async () => {
  await createPartitions(at("2023-06-15T00:00:00Z"));
  // PostgreSQL refuses CONCURRENTLY as long as there is a default partition; Citus always does.
  await database.query("CREATE TABLE event.rest PARTITION OF event.events DEFAULT");
  const attached = async (): Promise<string[]> => {
    const { rows } = await database.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits
       WHERE inhparent = 'event.events'::regclass AND inhrelid::regclass::text LIKE 'event.events_2023%' ORDER BY 1`,
    );
    return rows.map(({ name }) => name);
  };
  const writer = new pg.Client({ connectionString: url });
  await writer.connect();
  try {
    await writer.query("BEGIN");
    await insert(writer, lowestUuidAt(Date.parse("2023-08-15T00:00:00Z")));
    await expect(detachOld(at("2023-06-15T00:00:00Z"), 0)).rejects.toThrow(/lock timeout/);
    expect((await attached()).length).toBe(5);
    await writer.query("COMMIT");
    await detachOld(at("2023-06-15T00:00:00Z"), 0);
  } finally {
    await writer.end();
  }
  expect(await attached()).toEqual([6, 7, 8, 9].map((month) => `event.events_2023_0${month}`));
  await database.query("DROP TABLE event.rest");
  await detachOld(at("2024-01-15T00:00:00Z"), 0);
});

test("a detaching that was cut short is finished", async () => {
  await createPartitions(at("2024-09-15T00:00:00Z"));
  const writer = new pg.Client({ connectionString: url });
  const detacher = new pg.Client({ connectionString: url });
  await Promise.all([writer.connect(), detacher.connect()]);
  try {
    await writer.query("BEGIN");
    await insert(writer, lowestUuidAt(Date.parse("2025-06-16T00:00:00Z")));
    await detacher.query("SET statement_timeout = 200");
    const cut = detacher.query("ALTER TABLE event.events DETACH PARTITION event.events_2024_08 CONCURRENTLY");
    await expect(cut).rejects.toThrow(/timeout/);
    await writer.query("COMMIT");
    await detachOld(at("2025-06-15T00:00:00Z"), 3);
  } finally {
    await Promise.all([writer.end(), detacher.end()]);
  }
  const { rows } = await database.query(
    "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'event.events'::regclass ORDER BY 1",
  );
  expect(rows[0]).toEqual({ name: "event.events_2025_05" });
});
