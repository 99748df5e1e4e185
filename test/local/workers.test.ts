/** Workers of `npm start`: they share the port, and one that ends is replaced while the others go on. */
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { decodeId } from "#shared/values/ids.ts";
import { connectTo, testCall, type TestDaybook, type TestProperty } from "../support/daybook.ts";
import { createDatabase } from "../support/database.ts";
import { keyed } from "../support/idempotency.ts";
import { newEmail } from "../support/people.ts";
import { eventually, freePort, startNode, type RunningProcess } from "../support/processes.ts";
import { random } from "../support/random.ts";
import { aggregatesPath } from "../support/recount.ts";

const owner = new Owner();
const count = 3;
// As long as a gateway remembers a key without asking again.
const rememberedMs = 5_000;
let folder: string;
let databaseUrl: string;
let daybook: TestDaybook;
let running: RunningProcess;
let internalUrl: string;
let database: pg.Pool;

/** Starts `npm start` with its workers, and waits for all of them. */
async function start(): Promise<void> {
  const [port, internalPort] = [await freePort(), await freePort()];
  internalUrl = `http://127.0.0.1:${internalPort}`;
  running = owner.own(
    startNode("deploy/local/main.ts", {
      DATABASE_URL: databaseUrl,
      DATA_DIR: folder,
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      WORKERS: String(count),
      LOG_LEVEL: "info",
    }),
  );
  await eventually(async () => ((await serving()).length === count ? true : undefined), {
    timeoutMs: 120_000,
    explain: running.output,
  });
  const { services_url: url, internal_token: internalToken } = JSON.parse(
    await readFile(join(folder, "connection.json"), "utf8"),
  );
  const services = { identityUrl: url, profileUrl: url, eventUrl: url, metricUrl: url, webhookUrl: url };
  daybook = connectTo({ ...services, gatewayUrl: `http://127.0.0.1:${port}`, internalToken, databaseUrl });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "daybook-workers-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  ({ url: databaseUrl } = owner.own(await createDatabase(inject("databaseUrl"))));
  database = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  owner.defer(() => database.end());
  await start();
});
afterAll(() => owner.close());

const countRows = async (table: string): Promise<number> =>
  (await database.query(`SELECT count(*)::int AS count FROM ${table}`)).rows[0].count;

const metrics = async (): Promise<string> => (await fetch(`${internalUrl}/metrics`)).text();

/** The numbers of the workers that serve. */
async function serving(): Promise<string[]> {
  const found = (await metrics()).matchAll(/^process_start_time_seconds\{worker="([1-9])"\}/gm);
  return [...found].map(([, number = ""]) => number).toSorted();
}

/** The newest process of each worker, by its number, as the log tells. */
function pidsOf(): Map<string, number> {
  const lines = running.output().matchAll(/^\{.*"pid":(\d+).*"worker":"(\d)".*"a worker serves"\}$/gm);
  return new Map([...lines].map(([, pid, number = ""]) => [number, Number(pid)]));
}

/** Kills a worker, and waits until another has its place. */
async function killOne(): Promise<void> {
  const [number = "", pid = 0] = [...pidsOf()][random(count)] ?? [];
  process.kill(pid, "SIGKILL");
  await eventually(() => (pidsOf().get(number) === pid ? undefined : true), {
    timeoutMs: 90_000,
    explain: running.output,
  });
}

/** Clients with a connection each, which any of the workers may have. */
async function onConnections<T>(
  use: (get: (path: string, secret: string) => Promise<number>) => Promise<T>,
): Promise<T> {
  const agents = Array.from({ length: count }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  const getBy = (agent: Agent, path: string, secret: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${secret}` };
      const asking = request(`${daybook.baseUrl}${path}`, { agent, headers }, (answer) => {
        answer.resume().once("end", () => resolve(answer.statusCode ?? 0));
      });
      asking.once("error", reject).end();
    });
  try {
    let next = 0;
    return await use((path, secret) => getBy(agents[next++ % count] as Agent, path, secret));
  } finally {
    for (const agent of agents) agent.destroy();
  }
}

test("their metrics are told apart, and are together those of all requests", async () => {
  const { secret } = await daybook.newProperty();
  await onConnections(async (get) => {
    for (let turn = 0; turn < 2 * count; turn++) expect(await get("/v1/revisions", secret)).toBe(200);
  });
  const text = await metrics();
  const counted = text.matchAll(/^daybook_http_duration_seconds_count\{[^}]*\/v1\/revisions[^}]*\} (\d+)/gm);
  // Whoever is free takes a connection.
  expect([...counted].reduce((sum, [, requests]) => sum + Number(requests), 0)).toBe(2 * count);
  expect(text.match(/^process_resident_memory_bytes\{worker="\d"\}/gm)).toHaveLength(count + 1);
  expect((await fetch(`${internalUrl}/health/ready`)).status).toBe(200);
});

test("a key that is revoked at one is refused by all, before they would have forgotten it", async () => {
  const { secret, keyId, propertyId } = await daybook.newProperty();
  await onConnections(async (get) => {
    const askAll = async (): Promise<number[]> => {
      const statuses: number[] = [];
      for (let turn = 0; turn < count; turn++) statuses.push(await get("/v1/revisions", secret));
      return statuses;
    };
    const everyone = (status: number): number[] => Array.from({ length: count }, () => status);
    expect(await askAll()).toEqual(everyone(200));
    const revokedAt = performance.now();
    await daybook.clients.identity.revokeKey({ propertyId, keyId }, testCall);
    await eventually(async () => ((await askAll()).every((status) => status === 401) ? true : undefined));
    expect(performance.now() - revokedAt).toBeLessThan(rememberedMs);
    expect(await askAll()).toEqual(everyone(401));
  });
});

test("a limit of requests holds over all of them together", async () => {
  const { secret } = await daybook.newProperty({ rateLimits: { ordinary: 30 } });
  await onConnections(async (get) => {
    const statuses = await Promise.all(Array.from({ length: 120 }, () => get("/v1/revisions", secret)));
    const admitted = statuses.filter((status) => status === 200).length;
    // Of two windows if one ends meanwhile.
    expect([30, 60]).toContain(admitted);
    expect(statuses.filter((status) => status === 429)).toHaveLength(120 - admitted);
  });
});

test("events are recorded once and counted once, while workers are killed", { timeout: 300_000 }, async () => {
  const api = await daybook.newProperty();
  const over = new AbortController();
  const sent = new Set<string>();
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let turn = 0; !over.signal.aborted; turn++) {
      const order = `${writer}-${turn}`;
      const event = {
        type: "order.completed",
        identifier: newEmail(),
        properties: { order },
        value: "1.5",
        currency: "EUR",
      };
      await recordAnyhow(api, event);
      sent.add(order);
    }
  });
  for (let kill = 0; kill < 5; kill++) {
    await sleep(random(1_500));
    await killOne();
  }
  over.abort();
  await Promise.all(writers);
  const property = decodeId("prop", api.propertyId, "property_id");
  const { rows } = await database.query(
    "SELECT properties->>'order' AS order FROM event.events WHERE property_id = $1 AND type = 'order.completed'",
    [property],
  );
  expect(rows.map(({ order }) => String(order)).toSorted()).toEqual([...sent].toSorted());
  const hour = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() };
  const measurements = ["count", "sum_value", "unique_profiles"];
  const wanted = { metric: "order.completed", measurements, ...hour };
  const aggregates = async (): Promise<unknown[]> => {
    const { body } = await api.post(aggregatesPath, wanted);
    const { count: counts, sum_value: sums, unique_profiles: profiles } = body.data.series[0];
    return [counts[0], Number(sums[0]), profiles[0]];
  };
  await eventually(async () => ((await aggregates())[0] === sent.size ? true : undefined));
  await eventually(async () => ((await countRows("event.outbox")) === 0 ? true : undefined));
  expect(await aggregates()).toEqual([sent.size, sent.size * 1.5, sent.size]);
  expect(await serving()).toEqual(["1", "2", "3"]);
});

/** Records an event until it is answered, with the same key each time. */
async function recordAnyhow(api: TestProperty, event: object): Promise<void> {
  const key = keyed(randomUUID());
  for (;;) {
    const answer = await api.post("/v1/events", event, key).catch(() => undefined);
    if (answer?.status === 201) return;
    // The connection broke, or the first of two attempts is still under way.
    if (answer) expect([answer.status, answer.text]).toEqual([expect.toBeOneOf([409, 503]), answer.text]);
    await sleep(20);
  }
}

test("one that ends again and again is replaced, later each time, and the others go on", async () => {
  const api = await daybook.newProperty();
  for (let kill = 0; kill < 2; kill++) await killOne();
  for (let turn = 0; turn < 20; turn++) expect((await api.get("/v1/revisions")).status).toBe(200);
});

test("all end in order with the process that watches over them, and at once if it is killed", async () => {
  const isGone = (pid: number): boolean => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  };
  const allGone = (pids: Iterable<number>) => eventually(() => ([...pids].every(isGone) ? true : undefined));
  const before = new Set(pidsOf().values());
  running.child.kill("SIGTERM");
  expect(await running.ended).toEqual({ code: 0, signal: null });
  expect([...before].every(isGone)).toBe(true);
  await start();
  running.child.kill("SIGKILL");
  await allGone(pidsOf().values());
});

test.each([
  ["0", "WORKERS must be"],
  ["65", "WORKERS must be"],
  ["all", "WORKERS must be"],
])("WORKERS=%s is refused", async (value, message) => {
  const refused = startNode("deploy/local/main.ts", { WORKERS: value, DATABASE_URL: databaseUrl, DATA_DIR: folder });
  expect((await refused.ended).code).toBe(1);
  expect(refused.output()).toContain(message);
});

test("when the first cannot start, the process says why and ends", async () => {
  const settings = { WORKERS: "64", DATABASE_URL: databaseUrl, DATA_DIR: folder, PORT: "0", INTERNAL_PORT: "0" };
  const refused = startNode("deploy/local/main.ts", settings);
  expect((await refused.ended).code).toBe(1);
  expect(refused.output()).toMatch(/may open \d+ connections, and PostgreSQL allows/);
});
