/** From the outbox to the metric: at least once on the way, exactly once in the count. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { EventsRecordedSchema } from "#proto/daybook/event/v1/event_pb.ts";
import { type Bus, type BusHandler, type BusMessage } from "#shared/bus/bus.ts";
import { createLocalBus } from "#shared/bus/local.ts";
import { systemClock } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { encodeId, newId, newUuid } from "#shared/values/ids.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { connectNatsBus } from "#shared/bus/nats/bus.ts";
import { createOutboxRelay, rewriteMessages, type OutboxRelay } from "#shared/outbox/outbox.ts";
import { migrate } from "#shared/database/migrate.ts";
import { openDatabase, withTransaction, type Database } from "#shared/database/postgres.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { createMetric } from "../../services/metric/service.ts";
import { eventsRecorded } from "../../services/metric/consumers/events-recorded.ts";
import { testSigner } from "../support/daybook.ts";
import { createDatabase } from "../support/database.ts";
import { metricContext } from "../support/metric.ts";
import { countKept, deleteAllButFirst, startNats } from "../support/nats.ts";
import { eventually, freePort } from "../support/processes.ts";

const log = createLog("test", "silent");
const owner = new Owner();
let database: Database;
let handler: BusHandler;

beforeAll(async () => {
  const { url } = owner.own(await createDatabase(inject("databaseUrl")));
  database = openDatabase({ url, applicationName: "test", connectionsMax: 12, log });
  owner.defer(() => database.end());
  await migrate(database, "event", "services/event/migrations");
  const bus = createLocalBus(log);
  const context = metricContext({ database, bus, log, registry: createRegistry() });
  await owner.own(createMetric(context, context)).start();
  handler = eventsRecorded(context);
});
afterAll(() => owner.close());

const subject = "daybook.event.recorded";

function connectTo(url: string): Promise<Bus> {
  return connectNatsBus({ servers: [url], signer: testSigner, name: "delivery test", log, registry: createRegistry() });
}

function batch(
  propertyId: string,
  types: string[],
  receivedAt = systemClock.nowMicros(),
  metricName?: string,
): BusMessage {
  const id = newUuid();
  const events = types.map((type) => ({
    id: newId("evt"),
    type,
    propertiesJson: "{}",
    source: "api",
    occurredAt: toTimestamp(receivedAt),
    receivedAt: toTimestamp(receivedAt),
    ...(metricName === undefined ? {} : { metricName }),
  }));
  const message = create(EventsRecordedSchema, { batchId: id, propertyId, events });
  return { id, subject, payload: toBinary(EventsRecordedSchema, message) };
}

async function counts(property: string): Promise<Record<string, number>> {
  const { rows } = await database.query<{ name: string; event_count: number }>(
    "SELECT name, event_count FROM metric.metrics WHERE property_id = $1 ORDER BY name",
    [property],
  );
  return Object.fromEntries(rows.map(({ name, event_count }) => [name, event_count]));
}

describe("the consumer", () => {
  test("keeps the earliest name in whatever order batches come, also of events that are counted from what is stored", async () => {
    const property = newUuid();
    const propertyId = encodeId("prop", property);
    const now = systemClock.nowMicros();
    const nameOf = async () => {
      const text = "SELECT original_name FROM metric.metrics WHERE property_id = $1";
      return (await database.query<{ original_name: string }>(text, [property])).rows.map((row) => row.original_name);
    };
    await handler([batch(propertyId, ["a.a"], now)]);
    expect(await nameOf()).toEqual([null]);
    await handler([batch(propertyId, ["a.a"], now, "third"), batch(propertyId, ["a.a"], now + 1, "fourth")]);
    expect(await nameOf()).toEqual(["third"]);
    await handler([batch(propertyId, ["a.a"], now - 1, "second")]);
    expect(await nameOf()).toEqual(["second"]);
    await database.query("UPDATE metric.properties SET counted_up_to = now() WHERE property_id = $1", [property]);
    await handler([batch(propertyId, ["a.a"], now - 2, "first")]);
    expect(await nameOf()).toEqual(["first"]);
    expect(await counts(property)).toEqual({ "a.a": 4 });
  });

  test("counts a batch once, however often and beside whatever it comes", async () => {
    const property = newUuid();
    const propertyId = encodeId("prop", property);
    const batches = Array.from({ length: 20 }, () => batch(propertyId, ["a.a", "b.b", "a.a"]));
    const deliveries = Array.from({ length: 10 }, (_, turn) => [
      handler(turn % 2 === 0 ? batches : batches.toReversed()),
      ...batches.slice(0, 5).map((message) => handler([message, message])),
    ]).flat();
    await Promise.all(deliveries);
    expect(await counts(property)).toEqual({ "a.a": 40, "b.b": 20 });
  });

  test("the first event is the earliest received, in whatever order batches come", async () => {
    const property = newUuid();
    const propertyId = encodeId("prop", property);
    const times = [5_000_000, 3_000_000, 9_000_000];
    for (const time of times) await handler([batch(propertyId, ["a.a"], time)]);
    const { rows } = await database.query("SELECT first_seen_at FROM metric.metrics WHERE property_id = $1", [
      property,
    ]);
    expect(rows).toEqual([{ first_seen_at: 3_000_000 }]);
  });
});

test("a NATS that lost its store is given its stream and consumers anew, and delivery goes on", async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-nats-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const port = await freePort();
  const first = await startNats(join(folder, "first"), port);
  const bus = owner.own(await connectTo(first.url));
  const taken = new Set<string>();
  const topic = `daybook.test.${newUuid()}`;
  await bus.subscribe("test", topic, (delivered) => {
    for (const { id } of delivered) taken.add(id);
    return Promise.resolve();
  });
  const publishOne = async (): Promise<string> => {
    const message = { ...batch(newId("prop"), ["a.a"]), subject: topic };
    return eventually(async () => ((await bus.publish([message]))[0] instanceof Error ? undefined : message.id));
  };
  const before = await publishOne();
  await eventually(() => (taken.has(before) ? true : undefined));
  await first.close();
  owner.own(await startNats(join(folder, "second"), port));
  const after = await publishOne();
  await eventually(() => (taken.has(after) ? true : undefined), { timeoutMs: 90_000 });
  expect(taken).toEqual(new Set([before, after]));
}, 120_000);

/** An outbox of its own, and what publishes it. */
async function makeOutbox(schema: string, bus: Bus): Promise<{ bus: Bus; relay: OutboxRelay }> {
  owner.own(bus);
  await database.query(`CREATE SCHEMA ${schema}`);
  await database.query(`CREATE TABLE ${schema}.outbox (LIKE event.outbox INCLUDING ALL)`);
  const relay = owner.own(createOutboxRelay({ database, schema, bus, log, registry: createRegistry() }));
  return { bus, relay };
}

async function write(schema: string, messages: readonly BusMessage[], topic: string): Promise<void> {
  // Of one property, so that they are published in this order.
  const property = newUuid();
  for (const { id, payload } of messages) {
    await database.query(`INSERT INTO ${schema}.outbox (property_id, id, subject, payload) VALUES ($1, $2, $3, $4)`, [
      property,
      id,
      topic,
      Buffer.from(payload),
    ]);
  }
}

/** Waits until an outbox holds nothing. */
function drained(schema: string): Promise<true> {
  return eventually(async () => {
    const { rows } = await database.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${schema}.outbox`);
    return rows[0]?.rows === 0 ? true : undefined;
  });
}

test("NATS forgets a message when all of its consumers have taken it, and not before, and not those behind it", async () => {
  const url = inject("natsUrl");
  const { bus, relay } = await makeOutbox(`outbox_${newUuid().slice(-12)}`, await connectTo(url));
  const topic = `daybook.test.${newUuid()}`;
  const taken: string[] = [];
  const gate = Promise.withResolvers<void>();
  await bus.subscribe(`quick-${newUuid()}`, topic, (delivered) => {
    taken.push(...delivered.map(({ id }) => id));
    return Promise.resolve();
  });
  // The last comes again and again, as if it could not be taken for a while.
  const messages = Array.from({ length: 3 }, () => ({ ...batch(newId("prop"), ["a.a"]), subject: topic }));
  const last = messages.at(-1)?.id;
  let isHeld = true;
  let refusals = 0;
  await bus.subscribe(`slow-${newUuid()}`, topic, async (delivered) => {
    await gate.promise;
    if (!isHeld || !delivered.some(({ id }) => id === last)) return;
    refusals++;
    throw new DaybookError("service_unavailable", "not now");
  });
  relay.start();
  await write(relay.schema, messages, topic);
  await eventually(() => (taken.length === 3 ? true : undefined));
  expect(await countKept(url, topic)).toBe(3);
  gate.resolve();
  await eventually(async () => ((await countKept(url, topic)) === 1 ? true : undefined));
  const before = refusals;
  await eventually(() => (refusals > before ? true : undefined));
  isHeld = false;
  await drained(relay.schema);
  await eventually(async () => ((await countKept(url, topic)) === 0 ? true : undefined));
});

test("what a stream lost without a trace comes when an operator has it published again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-nats-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const { url } = owner.own(await startNats(folder));
  const schema = "relay_republish";
  const topic = `daybook.test.${newUuid()}`;
  const { bus, relay } = await makeOutbox(schema, await connectTo(url));
  const property = newUuid();
  const messages = Array.from({ length: 5 }, () => batch(encodeId("prop", property), ["a.a"]));
  await write(schema, messages, topic);
  relay.start();
  const allPublished = (): Promise<true> =>
    eventually(async () => {
      const { waiting, published } = await relay.describe();
      return waiting === 0 && published === 5 ? true : undefined;
    });
  await allPublished();
  // The server still knows their ids, and the first of them is still there: nothing tells that the others are not.
  expect(await deleteAllButFirst(url, topic)).toBe(4);
  expect(await relay.republish(undefined)).toEqual({ rows: 5, next: undefined });
  await allPublished();
  await bus.subscribe("late", topic, handler);
  await eventually(async () => ((await counts(property))["a.a"] === 5 ? true : undefined));
  await drained(schema);
  expect(await counts(property)).toEqual({ "a.a": 5 });
});

test("what a consumer in the same process refuses stays in the outbox with the reason, and the rest goes", async () => {
  const schema = "relay_refused";
  const topic = `daybook.test.${newUuid()}`;
  const { bus, relay } = await makeOutbox(schema, createLocalBus(log));
  const messages = Array.from({ length: 5 }, () => batch(newId("prop"), ["a.a"]));
  const [bad] = messages;
  let isMended = false;
  await bus.subscribe("strict", topic, (delivered) => {
    if (isMended || delivered.every(({ id }) => id !== bad?.id)) return Promise.resolve();
    throw new Error("this one is bad");
  });
  await write(schema, messages, topic);
  relay.start();
  const { failing } = await eventually(async () => {
    const described = await relay.describe();
    return described.waiting === 1 && (described.failing[0]?.attempts ?? 0) > 1 ? described : undefined;
  });
  expect(failing).toEqual([{ id: bad?.id, subject: topic, attempts: expect.any(Number), failure: "this one is bad" }]);
  isMended = true;
  await drained(schema);
});

describe.each(["local", "nats"])("the relay over the %s bus", (home) => {
  const prepare = async (schema: string) =>
    makeOutbox(schema, home === "local" ? createLocalBus(log) : await connectTo(inject("natsUrl")));

  test("delivers every row, and a message that is refused at first comes again without holding up the others", async () => {
    const schema = `relay_${home}_retry`;
    const topic = `daybook.test.${newUuid()}`;
    const { bus, relay } = await prepare(schema);
    const messages = Array.from({ length: 10 }, () => batch(newId("prop"), ["a.a"]));
    const refusals = new Map([[messages[3]?.id, 2]]);
    const taken: string[] = [];
    await bus.subscribe(`test-${newUuid()}`, topic, async (delivered) => {
      for (const { id } of delivered) {
        const left = refusals.get(id) ?? 0;
        if (left > 0) {
          refusals.set(id, left - 1);
          throw new Error("not now");
        }
      }
      taken.push(...delivered.map(({ id }) => id));
      return Promise.resolve();
    });
    await write(schema, messages, topic);
    relay.start();
    const everyId = messages.map(({ id }) => id).toSorted();
    await eventually(() => (new Set(taken).size === messages.length ? true : undefined));
    expect([...new Set(taken)].toSorted()).toEqual(everyId);
    expect(taken.at(-1)).toBe(messages[3]?.id);
    await drained(schema);
  });

  test("a consumer rewrites messages of the outbox whose relay waits for it, but for those on their way", async () => {
    const schema = `relay_${home}_rewrite`;
    const topic = `daybook.test.${newUuid()}`;
    const { bus, relay } = await prepare(schema);
    const property = newUuid();
    const insert = (at: string) =>
      database.query(
        `INSERT INTO ${schema}.outbox (property_id, id, subject, payload, available_at) VALUES ($1, $2, $3, $4, ${at})`,
        [property, newUuid(), topic, Buffer.from("before")],
      );
    await insert("now()");
    await insert("now() + interval '1 day'");
    let taken = 0;
    await bus.subscribe(`test-${newUuid()}`, topic, async (delivered) => {
      await withTransaction(database, (tx) =>
        rewriteMessages(tx, { schema, property, subject: topic }, () => Buffer.from("after")),
      );
      taken += delivered.length;
    });
    relay.start();
    await eventually(() => (taken > 0 ? true : undefined));
    const { rows } = await eventually(async () => {
      const found = await database.query<{ payload: Buffer }>(`SELECT payload FROM ${schema}.outbox`);
      return found.rows.length === 1 ? found : undefined;
    });
    expect(rows.map(({ payload }) => payload.toString())).toEqual(["after"]);
  });

  test("two relays share an outbox and lose nothing", async () => {
    const schema = `relay_${home}_shared`;
    const topic = `daybook.test.${newUuid()}`;
    const { bus, relay } = await prepare(schema);
    const second = owner.own(createOutboxRelay({ database, schema, bus, log, registry: createRegistry() }));
    const taken = new Set<string>();
    await bus.subscribe(`test-${newUuid()}`, topic, (delivered) => {
      for (const { id } of delivered) taken.add(id);
      return Promise.resolve();
    });
    relay.start();
    second.start();
    const messages = Array.from({ length: 200 }, () => batch(newId("prop"), ["a.a"]));
    await write(schema, messages, topic);
    await drained(schema);
    await eventually(() => (taken.size === messages.length ? true : undefined));
    expect(taken.size).toBe(200);
  });
});
