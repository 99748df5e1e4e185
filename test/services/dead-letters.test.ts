/** A message that its consumer cannot take does not come for ever, is not lost, and holds up no other. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { EventsRecordedSchema } from "#proto/daybook/event/v1/event_pb.ts";
import type { Bus, BusHandler, BusMessage } from "#shared/bus/bus.ts";
import { systemClock } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { encodeId, newId, newUuid } from "#shared/values/ids.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { connectNatsBus } from "#shared/bus/nats/bus.ts";
import { openDatabase, type Database } from "#shared/database/postgres.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { eventsRecorded } from "../../services/metric/consumers/events-recorded.ts";
import { createMetric } from "../../services/metric/service.ts";
import { testSigner } from "../support/daybook.ts";
import { createDatabase } from "../support/database.ts";
import { metricContext } from "../support/metric.ts";
import { startNats } from "../support/nats.ts";
import { eventually, freePort } from "../support/processes.ts";

const log = createLog("test", "silent");
const owner = new Owner();
const registry = createRegistry();
const failuresMax = 10;
let bus: Bus;
let database: Database;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-dead-letters-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const { url } = owner.own(await startNats(folder));
  const redelivery = { failuresMax, redeliverDelayMsMin: 1 };
  bus = owner.own(
    await connectNatsBus({ servers: [url], signer: testSigner, name: "test", redelivery, log, registry }),
  );
  const { url: databaseUrl } = owner.own(await createDatabase(inject("databaseUrl")));
  database = openDatabase({ url: databaseUrl, applicationName: "test", connectionsMax: 4, log });
  owner.defer(() => database.end());
  const context = metricContext({ database, bus, log, registry });
  await owner.own(createMetric(context, context)).start();
});
afterAll(() => owner.close());

const subject = "daybook.event.recorded";

function batch(propertyId: string): BusMessage {
  const id = newUuid();
  const at = toTimestamp(systemClock.nowMicros());
  const event = { id: newId("evt"), type: "a.a", propertiesJson: "{}", source: "api", occurredAt: at, receivedAt: at };
  const message = create(EventsRecordedSchema, { batchId: id, propertyId, events: [event] });
  return { id, subject, payload: toBinary(EventsRecordedSchema, message) };
}

async function countOf(property: string): Promise<number> {
  const { rows } = await database.query<{ event_count: number }>(
    "SELECT event_count FROM metric.metrics WHERE property_id = $1",
    [property],
  );
  return rows[0]?.event_count ?? 0;
}

async function publish(...messages: BusMessage[]): Promise<void> {
  for (const outcome of await bus.publish(messages)) if (outcome instanceof Error) throw outcome;
}

const lettersOf = async (consumer: string) =>
  (await bus.describe()).deadLetters.filter((letter) => letter.consumer === consumer);

test("what the metric service cannot read is given up with its reason, and all else is counted", async () => {
  const property = newUuid();
  const propertyId = encodeId("prop", property);
  const poison: BusMessage = { id: newUuid(), subject, payload: Buffer.from("this is no message") };
  await publish(batch(propertyId), poison, batch(propertyId), batch(propertyId));
  await eventually(async () => ((await countOf(property)) === 3 ? true : undefined));
  const letters = await eventually(async () => {
    const found = await lettersOf("metric");
    return found.length > 0 ? found : undefined;
  });
  expect(letters).toEqual([
    {
      consumer: "metric",
      messageId: poison.id,
      subject,
      reason: expect.stringMatching(/./),
      deliveries: failuresMax,
      diedAt: expect.any(Number),
    },
  ]);
  await publish(batch(propertyId));
  await eventually(async () => ((await countOf(property)) === 4 ? true : undefined));
  const { consumers, deadLetterCounts } = await bus.describe();
  expect(consumers).toContainEqual(expect.objectContaining({ consumer: "metric", subject, delivered: 0, waiting: 0 }));
  expect(deadLetterCounts.get("metric")).toBe(1);
  expect(await registry.metrics()).toMatch(/^daybook_dead_letters\{consumer="metric"\} 1$/m);
  // What is still bad dies again; it is another letter, and there is one of it.
  expect(await bus.retry("metric")).toEqual({ retried: 1, isComplete: true });
  await eventually(async () => {
    const [letter] = await lettersOf("metric");
    return letter && letter.diedAt > (letters[0]?.diedAt ?? 0) ? true : undefined;
  });
  expect(await lettersOf("metric")).toHaveLength(1);
});

test("a dead letter stays until it is given back, and then goes to nobody but who failed", async () => {
  const topic = `daybook.test.${newUuid()}`;
  const [frail, sturdy] = [`frail-${newUuid()}`, `sturdy-${newUuid()}`];
  const poison = { ...batch(newId("prop")), subject: topic };
  const others = Array.from({ length: 5 }, () => ({ ...batch(newId("prop")), subject: topic }));
  const taken = new Map<string, string[]>([
    [frail, []],
    [sturdy, []],
  ]);
  let isMended = false;
  let refusals = 0;
  const taking =
    (consumer: string): BusHandler =>
    (messages) => {
      if (consumer === frail && !isMended && messages.some(({ id }) => id === poison.id)) {
        if (messages.length === 1) refusals++;
        throw new Error("two\nlines of reason");
      }
      taken.get(consumer)?.push(...messages.map(({ id }) => id));
      return Promise.resolve();
    };
  await bus.subscribe(frail, topic, taking(frail));
  await bus.subscribe(sturdy, topic, taking(sturdy));
  await publish(poison, ...others);
  const [letter] = await eventually(async () => {
    const found = await lettersOf(frail);
    return found.length > 0 ? found : undefined;
  });
  expect(letter).toMatchObject({ messageId: poison.id, subject: topic, reason: "two lines of reason" });
  expect(refusals).toBe(failuresMax);
  expect(new Set(taken.get(frail))).toEqual(new Set(others.map(({ id }) => id)));
  await eventually(() => (taken.get(sturdy)?.includes(poison.id) ? true : undefined));

  expect(await lettersOf(frail)).toHaveLength(1);
  expect(await bus.retry(sturdy)).toEqual({ retried: 0, isComplete: true });
  isMended = true;
  expect(await bus.retry(frail, newUuid())).toEqual({ retried: 0, isComplete: true });
  expect(await lettersOf(frail)).toHaveLength(1);
  expect(await bus.retry(frail, poison.id)).toEqual({ retried: 1, isComplete: true });
  await eventually(() => (taken.get(frail)?.includes(poison.id) ? true : undefined));
  await eventually(async () => {
    const { consumers } = await bus.describe();
    const theirs = consumers.filter(({ consumer }) => [frail, sturdy].includes(consumer));
    return theirs.every(({ waiting, delivered }) => waiting + delivered === 0) ? true : undefined;
  });
  expect(await lettersOf(frail)).toEqual([]);
  expect(taken.get(sturdy)?.filter((id) => id === poison.id)).toHaveLength(1);
});

test("a database or a service that is away makes no dead letter, however often it is asked", async () => {
  const topic = `daybook.test.${newUuid()}`;
  const consumer = `waiting-${newUuid()}`;
  const property = newUuid();
  const message = { ...batch(encodeId("prop", property)), subject: topic };
  const url = `postgres://nobody@127.0.0.1:${await freePort()}/none`;
  const away = openDatabase({ url, applicationName: "test", connectionsMax: 1, log });
  owner.defer(() => away.end());
  const context = metricContext({ database, bus, log, registry });
  const deaf = eventsRecorded({ ...context, database: away });
  const well = eventsRecorded(context);
  let deliveries = 0;
  await bus.subscribe(consumer, topic, (messages) => {
    deliveries++;
    if (deliveries <= failuresMax) return deaf(messages);
    if (deliveries <= failuresMax + 3) throw new DaybookError("service_unavailable", "not now");
    return well(messages);
  });
  await publish(message);
  await eventually(async () => ((await countOf(property)) === 1 ? true : undefined), { timeoutMs: 60_000 });
  expect(deliveries).toBe(failuresMax + 4);
  expect(await lettersOf(consumer)).toEqual([]);
});
