/** Learning of attributes by several processes at once, what it costs, and how far a look at profiles goes. */
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createLocalBus } from "#shared/bus/local.ts";
import { systemClock } from "#shared/values/clock.ts";
import { newUuid, type Uuid } from "#shared/values/ids.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { migrate } from "#shared/database/migrate.ts";
import { openDatabase, withTransaction, type Database } from "#shared/database/postgres.ts";
import { createReads } from "#shared/database/reads.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { createAttributeSchemas, type AttributeSchemas } from "../../services/profile/attribute-schemas.ts";
import { createDatabase } from "../support/database.ts";

const log = createLog("test", "silent");
const owner = new Owner();
let database: Database;

beforeAll(async () => {
  const { url } = owner.own(await createDatabase(inject("databaseUrl")));
  database = openDatabase({ url, applicationName: "test", connectionsMax: 12, log });
  owner.defer(() => database.end());
  await migrate(database, "profile", "services/profile/migrations");
});
afterAll(() => owner.close());

/** What one process has of it. */
function newProcess(through = database): AttributeSchemas {
  const context = { bus: createLocalBus(log), clock: systemClock, log, registry: createRegistry() };
  return owner.own(createAttributeSchemas({ ...context, database: through, reads: createReads(through, log) }));
}

/** A database that counts what is asked of it. */
function counting(): { through: Database; count: () => number } {
  let count = 0;
  const through = new Proxy(database, {
    get(target, name) {
      if (name === "query" || name === "connect") count++;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return { through, count: () => count };
}

async function insertProfiles(property: string, count: number, attributes: string): Promise<void> {
  // The oldest has the smallest id.
  await database.query(
    `INSERT INTO profile.profiles (property_id, id, attributes, created_at, updated_at)
     SELECT $1, lpad(to_hex(n), 32, '0')::uuid, CASE WHEN n = 1 THEN '{"oldest":1}' ELSE $3 END::json, now(), now()
     FROM generate_series(1, $2::integer) n`,
    [property, count, attributes],
  );
}

test("of four processes that learn at once none loses what another has learned", async () => {
  const property = newUuid();
  const processes = Array.from({ length: 4 }, () => newProcess());
  await Promise.all(
    processes.flatMap((one, at) =>
      Array.from({ length: 50 }, (_, index) =>
        one.learn(property, [JSON.stringify({ [`k${4 * index + at}`]: 1, type: index === 7 ? "x" : 1 })]),
      ),
    ),
  );
  const wanted = Array.from({ length: 200 }, (_, index): [string, string] => [`k${index}`, "number"]);
  for (const one of processes) expect(await one.read(property)).toEqual(new Map([...wanted, ["type", "mixed"]]));
});

test("what is known costs no statement, and what another process has learned is read once", async () => {
  const property = newUuid();
  await newProcess().learn(property, ['{"a":1,"b":{"c":"x"}}']);
  const { through, count } = counting();
  const late = newProcess(through);
  await late.learn(property, ['{"a":2}']);
  expect(count()).toBe(1);
  for (let write = 0; write < 100; write++) await late.learn(property, ['{"a":3,"b":{"c":null}}', "{}", '{"b":{}}']);
  expect(count()).toBe(1);
  await late.learn(property, ['{"a":"x"}']);
  expect(count()).toBeGreaterThan(1);
  const after = count();
  await late.learn(property, ['{"a":true}']);
  expect(count()).toBe(after);
});

test("a thousand writes that show something new at once are learned from together", async () => {
  const property = newUuid();
  const { through, count } = counting();
  const one = newProcess(through);
  await Promise.all(
    Array.from({ length: 1000 }, (_, index) => one.learn(property, [JSON.stringify({ [`k${index % 400}`]: 1 })])),
  );
  expect((await one.read(property)).size).toBe(400);
  expect(count()).toBeLessThan(20);
});

/** Forgets what a profile with `oldest` and `newer` had. @returns what is known then. */
async function forgetting(property: Uuid): Promise<unknown> {
  const one = newProcess();
  await one.learn(property, ['{"oldest":1,"newer":1}']);
  await withTransaction(database, (tx) => one.forget(tx, property, '{"oldest":1,"newer":1}'));
  return one.read(property);
}

test("forgets what none of the 10,000 newest other profiles has", async () => {
  const many = newUuid();
  await insertProfiles(many, 10_001, '{"newer":1}');
  expect(await forgetting(many)).toEqual(new Map([["newer", "number"]]));
});

test("forgets nothing that any of fewer has, and looks no further than 32 MiB", async () => {
  const few = newUuid();
  await insertProfiles(few, 120, '{"newer":1}');
  const known = new Map([
    ["newer", "number"],
    ["oldest", "number"],
  ]);
  expect(await forgetting(few)).toEqual(known);
  const large = newUuid();
  await insertProfiles(large, 200, JSON.stringify({ newer: "x".repeat(250_000) }));
  expect(await forgetting(large)).toEqual(new Map([["newer", "number"]]));
});
