/** The relay of an outbox: each property has its turn, and a failed message comes later and later. */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { BusHandler } from "#shared/bus/bus.ts";
import { createLocalBus } from "#shared/bus/local.ts";
import { migrate } from "#shared/database/migrate.ts";
import { openDatabase, type Database } from "#shared/database/postgres.ts";
import { createOutboxRelay, type OutboxRelay } from "#shared/outbox/outbox.ts";
import { outboxLookRowsMax, outboxStatements, outboxTakeRowsMax } from "#shared/outbox/sql.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { newUuid, type Uuid } from "#shared/values/ids.ts";
import { createDatabase } from "../support/database.ts";
import { eventually } from "../support/processes.ts";
import { openSpread } from "../support/spread.ts";

const owner = new Owner();
const log = createLog("test", "silent");
const subject = "daybook.test";
let database: Database;

beforeAll(async () => {
  const { url } = owner.own(await createDatabase(inject("databaseUrl")));
  database = openDatabase({ url, applicationName: "test", connectionsMax: 12, log });
  owner.defer(() => database.end());
  await migrate(database, "event", "services/event/migrations");
});
afterAll(() => owner.close());

let outboxes = 0;

/** Makes an outbox with rows of properties, in this order, and its relay. */
type MakeOutbox = (properties: readonly Uuid[], handler: BusHandler) => Promise<OutboxRelay>;

const makeWhole: MakeOutbox = (properties, handler) => makeOutbox("", properties, handler);

/** The same, with a table that is spread by property. */
const makeSpread: MakeOutbox = (properties, handler) =>
  makeOutbox("PARTITION BY HASH (property_id)", properties, handler);

async function makeOutbox(spread: string, properties: readonly Uuid[], handler: BusHandler): Promise<OutboxRelay> {
  const schema = `outbox_${++outboxes}`;
  await database.query(`CREATE SCHEMA ${schema}`);
  await database.query(`CREATE TABLE ${schema}.outbox (LIKE event.outbox INCLUDING ALL) ${spread}`);
  for (const remainder of spread === "" ? [] : [0, 1, 2, 3]) {
    await database.query(
      `CREATE TABLE ${schema}.part${remainder} PARTITION OF ${schema}.outbox
       FOR VALUES WITH (MODULUS 4, REMAINDER ${remainder})`,
    );
  }
  await database.query(
    `INSERT INTO ${schema}.outbox (property_id, id, subject, payload)
     SELECT property, gen_random_uuid(), $2, decode(replace(property::text, '-', ''), 'hex')
     FROM unnest($1::uuid[]) AS p (property)`,
    [properties, subject],
  );
  const bus = owner.own(createLocalBus(log));
  await bus.subscribe("test", subject, handler);
  return owner.own(createOutboxRelay({ database, schema, bus, log, registry: createRegistry() }));
}

/** Notes of which properties messages are, in the order in which they come. */
function noting(): { seen: string[]; handler: BusHandler } {
  const seen: string[] = [];
  return {
    seen,
    handler(messages) {
      seen.push(...messages.map(({ payload }) => Buffer.from(payload).toString("hex")));
      return Promise.resolve();
    },
  };
}

const hex = (property: Uuid): string => property.replaceAll("-", "");

describe.each([
  ["one server", makeWhole],
  ["spread tables", makeSpread],
] as const)("the relay over %s", (_, make) => {
  test("a property with a large backlog does not hold up one that comes after it", async () => {
    const [busy, quiet] = [newUuid(), newUuid()];
    const { seen, handler } = noting();
    const backlog = Array.from({ length: 20 * outboxTakeRowsMax }, () => busy);
    (await make([...backlog, quiet], handler)).start();
    await eventually(() => (seen.length === backlog.length + 1 ? true : undefined));
    expect(seen.indexOf(hex(quiet))).toBeLessThan(3 * outboxTakeRowsMax);
  });

  test("more properties than one look finds have all their turn", async () => {
    const properties = Array.from({ length: 3 * outboxLookRowsMax + 1 }, () => newUuid());
    const { seen, handler } = noting();
    (await make(properties, handler)).start();
    await eventually(() => (seen.length >= properties.length ? true : undefined));
    expect(seen.toSorted()).toEqual(properties.map(hex).toSorted());
  });

  test("two relays of one table publish each row once", async () => {
    const properties = Array.from({ length: 50 }, () => newUuid());
    const { seen, handler } = noting();
    const rows = properties.flatMap((property) => Array.from({ length: 10 }, () => property));
    const first = await make(rows, handler);
    const bus = owner.own(createLocalBus(log));
    await bus.subscribe("test", subject, handler);
    const options = { database, schema: first.schema, bus, log, registry: createRegistry() };
    const second = owner.own(createOutboxRelay(options));
    first.start();
    second.start();
    await eventually(() => (seen.length >= rows.length ? true : undefined));
    expect(seen.toSorted()).toEqual(rows.map(hex).toSorted());
  });

  test("a message that fails waits twice as long after each attempt, and holds up no other of its property", async () => {
    const property = newUuid();
    const seen: string[] = [];
    const relay = await make([property], (messages) => {
      for (const { id } of messages) seen.push(id);
      return messages.some(({ payload }) => payload.length === 16)
        ? Promise.reject(new Error("no"))
        : Promise.resolve();
    });
    relay.start();
    // By attempt: the second at which the row is due, and how long it waited when it was looked at.
    const dueAt = new Map<number, number>();
    await eventually(async () => {
      const { rows } = await database.query<{ attempts: number; due: number; delay: number }>(
        `SELECT attempts, extract(epoch FROM available_at)::float8 AS due,
                extract(epoch FROM available_at - now())::float8 AS delay
         FROM ${relay.schema}.outbox WHERE attempts > 0`,
      );
      for (const { attempts, due, delay } of rows) {
        dueAt.set(attempts, due);
        expect(delay).toBeLessThanOrEqual(0.5 * 2 ** (attempts - 1));
      }
      return dueAt.has(3) && dueAt.has(4) ? true : undefined;
    });
    // The fourth attempt was made when it was due or later, and waits four seconds.
    expect((dueAt.get(4) ?? 0) - (dueAt.get(3) ?? 0)).toBeGreaterThanOrEqual(4);
    const text = `INSERT INTO ${relay.schema}.outbox (property_id, id, subject, payload) VALUES ($1, $2, $3, '\\x00')`;
    const after = newUuid();
    await database.query(text, [property, after, subject]);
    relay.wake();
    await eventually(() => (seen.includes(after) ? true : undefined));
    // The row goes with the commit, a moment after its message.
    await eventually(async () => ((await relay.describe()).waiting === 1 ? true : undefined));
    expect(await relay.describe()).toMatchObject({ failing: [{ failure: "no" }] });
  });
});

test("the size of an outbox is measured where its rows are", async () => {
  const { url } = owner.own(await createDatabase(inject("databaseUrl")));
  const { client } = await openSpread(url, owner);
  const { measure } = outboxStatements("event");
  for (const each of [database, client]) {
    await each.query(
      `INSERT INTO event.outbox (property_id, id, subject, payload)
       SELECT gen_random_uuid(), gen_random_uuid(), 'a', convert_to(repeat('x', 1000), 'UTF8') FROM generate_series(1, 1000)`,
    );
    const [measured] = await measure(each, [100_000]);
    expect(Number(measured?.bytes)).toBe(1_000_000);
  }
});
