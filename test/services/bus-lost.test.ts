/**
 * NATS stops, comes back without its store, or stays away until the outbox is full: whatever was answered is counted
 * exactly once.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { allTaken, beginLoad, countOf } from "../support/counting.ts";
import { startSingleProcess, testCall, type TestDaybook } from "../support/daybook.ts";
import { startNats, type NatsServer } from "../support/nats.ts";
import { keyed } from "../support/idempotency.ts";
import { newEmail, newProfile } from "../support/people.ts";
import { eventually, freePort } from "../support/processes.ts";

const owner = new Owner();
const registry = createRegistry();
const outboxBytesMax = 200_000;
let folder: string;
let store = 0;
let port: number;
let nats: NatsServer;
let daybook: TestDaybook;
let database: pg.Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "daybook-bus-lost-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  port = await freePort();
  nats = await startServer();
  owner.defer(() => nats.close());
  const options = { nats: { servers: [nats.url] }, log: createLog("test", "silent"), registry, outboxBytesMax };
  daybook = await startSingleProcess(owner, options);
  database = new pg.Client({ connectionString: daybook.databaseUrl });
  await database.connect();
  owner.defer(() => database.end());
});
afterAll(() => owner.close());

/** On the same address, with the store that it had, or with a new one. */
function startServer(withNewStore = false): Promise<NatsServer> {
  if (withNewStore) store++;
  return startNats(join(folder, `store${store}`), port);
}

/** What the event service's outbox holds of a subject. */
async function outboxRows(subject = "daybook.event.recorded"): Promise<{ published: boolean; payload: Buffer }[]> {
  const { rows } = await database.query<{ published: boolean; payload: Buffer }>(
    "SELECT sequence IS NOT NULL AS published, payload FROM event.outbox WHERE subject = $1",
    [subject],
  );
  return rows;
}

/** Waits until the outbox holds rows that are all published and none that waits. */
function allPublished(): Promise<unknown> {
  return eventually(async () => {
    const rows = await outboxRows();
    return rows.length > 0 && rows.every(({ published }) => published) ? true : undefined;
  });
}

/** The metric service cannot take anything while `work` goes on: its table is locked. */
async function whileMetricWaits(work: () => Promise<void>): Promise<void> {
  await database.query("BEGIN; LOCK TABLE metric.operations IN ACCESS EXCLUSIVE MODE");
  try {
    await work();
  } finally {
    await database.query("ROLLBACK");
  }
}

async function figure(name: string): Promise<number | undefined> {
  const line = (await registry.metrics()).split("\n").find((text) => text.startsWith(name));
  return line === undefined ? undefined : Number(line.split(" ").at(-1));
}

const lag = 'daybook_consumer_lag_messages{consumer="metric"}';

test("a store that is wiped with messages published and not taken loses nothing and counts nothing twice", async () => {
  const api = await daybook.newProperty();
  const post = async (events: number): Promise<void> => {
    const event = { type: "wiped.store", properties: {}, identifier: { type: "card", value: "1" } };
    for (let count = 0; count < events; count++) expect((await api.post("/v1/events", event)).status).toBe(201);
  };
  await post(10);
  await allTaken(daybook);
  expect(await figure(lag)).toBe(0);
  await whileMetricWaits(async () => {
    // More than the consumer asks for ahead, which it may hold already.
    await post(170);
    await allPublished();
    await eventually(async () => (((await figure(lag)) ?? 0) > 0 ? true : undefined));
    expect(await figure('daybook_outbox_published_rows{schema="event"}')).toBeGreaterThanOrEqual(170);
    await nats.close();
    await eventually(async () => ((await figure(lag)) === undefined ? true : undefined));
    nats = await startServer(true);
    await post(5);
  });
  await eventually(async () => ((await countOf(daybook, api.propertyId, "wiped.store")) >= 185 ? true : undefined), {
    timeoutMs: 60_000,
  });
  await allTaken(daybook);
  expect(await countOf(daybook, api.propertyId, "wiped.store")).toBe(185);
}, 120_000);

test("publishing everything again, however often, counts nothing twice", async () => {
  const api = await daybook.newProperty();
  const event = { type: "told.again", properties: {}, identifier: { type: "card", value: "1" } };
  const republish = async (): Promise<number> =>
    (await daybook.clients.outboxes.event.republish({ outbox: "event" }, testCall)).republished;
  await whileMetricWaits(async () => {
    for (let count = 0; count < 10; count++) await api.post("/v1/events", event);
    for (let turn = 0; turn < 3; turn++) {
      await allPublished();
      expect(await republish()).toBeGreaterThan(0);
    }
  });
  await allTaken(daybook);
  expect(await republish()).toBe(0);
  expect(await countOf(daybook, api.propertyId, "told.again")).toBe(10);
}, 120_000);

test("a server that stops under load and comes back has every answered event counted once", async () => {
  const api = await daybook.newProperty();
  const load = beginLoad(api, "stopped.server");
  await load.more(50);
  await nats.close();
  await load.more(100);
  nats = await startServer();
  await load.more(50);
  const answered = await load.stop();
  await allTaken(daybook);
  expect(await countOf(daybook, api.propertyId, "stopped.server")).toBe(answered);
}, 120_000);

test("a full outbox refuses what it would have to tell of, lets read, and has room again by itself", async () => {
  const api = await daybook.newProperty();
  const known = newEmail();
  const { path } = await newProfile(api, { identifiers: [known] });
  const event = {
    type: "full.outbox",
    identifier: { type: "card", value: "1" },
    properties: { word: "x".repeat(20_000) },
  };
  let answered = 0;
  await nats.close();
  const refused = await eventually(async () => {
    const answer = await api.post("/v1/events", event);
    if (answer.status === 201) answered++;
    return answer.status === 201 ? undefined : answer;
  });
  expect([refused.status, refused.body.error.code, refused.body.error.retryable]).toEqual([
    503,
    "service_unavailable",
    true,
  ]);
  expect(refused.body.error.message).toContain("bus");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await api.get("/v1/events")).body.data.length).toBeGreaterThan(0);
  expect((await api.patch(path, { attributes: { a: 1 } })).status).toBe(200);
  let cards = 0;
  const newCards = () => Array.from({ length: 5 }, () => ({ type: "card", value: `${++cards} ${"y".repeat(80)}` }));
  const noRoom = await eventually(async () => {
    await api.post("/v1/profiles/batch", { profiles: Array.from({ length: 50 }, () => ({ identifiers: newCards() })) });
    const answer = await api.post("/v1/profiles", { identifiers: newCards() });
    return answer.status === 201 ? undefined : answer;
  });
  expect([noRoom.status, noRoom.body.error.code]).toEqual([503, "service_unavailable"]);
  // Half of a batch can be done. What an Idempotency-Key keeps is not that the other half failed.
  const half = { profiles: [{ identifiers: [known], attributes: { b: 2 } }, { identifiers: newCards() }] };
  const statusesOf = async (): Promise<unknown[]> => {
    const { headers, body } = await api.post("/v1/profiles/batch", half, keyed("half"));
    return [headers.get("idempotency-replayed"), body.data.results.map(({ status }: { status: number }) => status)];
  };
  expect(await statusesOf()).toEqual(["false", [200, 503]]);
  const etagOf = async (): Promise<string | null> => (await api.get(path)).headers.get("etag");
  const etag = await etagOf();
  expect((await api.get("/v1/profiles")).status).toBe(200);

  nats = await startServer();
  await eventually(async () => {
    const { status } = await api.post("/v1/events", event);
    if (status === 201) answered++;
    return status === 201 ? true : undefined;
  });
  await eventually(async () => {
    const { status } = await api.post("/v1/profiles", { identifiers: newCards() });
    return status === 201 ? true : undefined;
  });
  expect(await statusesOf()).toEqual(["false", [200, 201]]);
  expect(await statusesOf()).toEqual(["true", [200, 201]]);
  expect(await etagOf()).toBe(etag);
  await allTaken(daybook);
  expect(await countOf(daybook, api.propertyId, "full.outbox")).toBe(answered);
}, 120_000);

// The last, as what tells of a redaction again waits in an outbox for minutes.
test("a redaction empties what is published and waits to be taken", async () => {
  const api = await daybook.newProperty();
  const { id } = await newProfile(api);
  await whileMetricWaits(async () => {
    const event = { type: "page.viewed", profile_id: id, properties: { word: "a secret word" } };
    expect((await api.post("/v1/events", event)).status).toBe(201);
    await allPublished();
    const holdSecret = async () => (await outboxRows()).filter(({ payload }) => payload.includes("a secret word"));
    expect(await holdSecret()).toHaveLength(1);
    await daybook.clients.profiles.redactProfile({ propertyId: api.propertyId, profileId: id }, testCall);
    await eventually(async () => ((await holdSecret()).length === 0 ? true : undefined));
    expect((await outboxRows()).length).toBeGreaterThan(0);
  });
  await eventually(async () => ((await outboxRows()).length === 0 ? true : undefined));
});
