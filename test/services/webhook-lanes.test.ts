/** Lanes of webhooks, on a real database and to real receivers: what is sent when, and that nobody waits for others. */
import { writeFile } from "node:fs/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { Webhook } from "standardwebhooks";
import type { Database } from "#shared/database/postgres.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { systemClock, type Clock } from "#shared/values/clock.ts";
import { newUuid } from "#shared/values/ids.ts";
import type { WebhookContext } from "../../services/webhook/context.ts";
import { redact } from "../../services/webhook/redaction.ts";
import { createDatabase } from "../support/database.ts";
import {
  addDeliveries,
  deliveriesOf,
  newEndpoint,
  openWebhooks,
  startLanes,
  type DeliveryState,
  type TestEndpoint,
} from "../support/lanes.ts";
import { eventually, startNode, type RunningProcess } from "../support/processes.ts";
import {
  accept,
  acceptAfter,
  createAuthority,
  reply,
  startListener,
  startReceiver,
  trust,
  type Authority,
  type Receiver,
} from "../support/receivers.ts";

const shared = new Owner();
let authority: Authority;
let databaseUrl: string;
let database: Database;
let caFile: string;
beforeAll(async () => {
  authority = await createAuthority();
  trust(authority, shared);
  databaseUrl = shared.own(await createDatabase(inject("databaseUrl"))).url;
  database = await openWebhooks(databaseUrl, shared);
  const folder = await mkdtemp(join(tmpdir(), "daybook-webhooks-"));
  shared.defer(() => rm(folder, { recursive: true }));
  caFile = join(folder, "ca.pem");
  await writeFile(caFile, authority.ca);
});
afterAll(() => shared.close());

let owner: Owner;
let receiver: Receiver;
beforeEach(async () => {
  owner = new Owner();
  receiver = owner.own(await startReceiver(authority));
});
afterEach(async () => {
  await owner.close();
  // What a test leaves due would be sent by the lanes of the next.
  await database.query("DELETE FROM webhook.endpoints");
});

async function untilAll(endpoint: TestEndpoint, is: (delivery: DeliveryState) => boolean): Promise<DeliveryState[]> {
  return eventually(
    async () => {
      const found = await deliveriesOf(database, endpoint);
      return found.length > 0 && found.every(is) ? found : undefined;
    },
    { timeoutMs: 60_000, explain: () => `${receiver.received.length} were received` },
  );
}

const isDelivered = ({ status }: DeliveryState): boolean => status === "delivered";
const idsOf = ({ received }: Receiver): unknown[] => received.map(({ headers }) => headers["webhook-id"]);

/** A clock that stands still until it is set. */
function stoppedClock(): Clock & { now: number } {
  return {
    now: systemClock.nowMicros(),
    nowMicros() {
      return this.now;
    },
  };
}

const micros = 1_000_000;

test("what is offered and what was due before are delivered once each, signed", async () => {
  const endpoint = await newEndpoint(database, receiver.url);
  await addDeliveries(database, endpoint, 600);
  const lanes = startLanes(database, owner);
  for (let index = 0; index < 20; index++) await addDeliveries(database, endpoint, 10, { lanes });
  const found = await untilAll(endpoint, isDelivered);
  expect(found).toHaveLength(800);
  expect(found.every(({ attempts, due_at: dueAt }) => attempts === 1 && dueAt === null)).toBe(true);
  expect(found[0]?.attempt_log).toEqual([
    { at: expect.any(String), duration_ms: expect.any(Number), status: 204, error: null, excerpt: "" },
  ]);
  expect(new Set(idsOf(receiver)).size).toBe(800);
  expect(receiver.received).toHaveLength(800);
  const { headers, body } = receiver.received[0] as (typeof receiver.received)[number];
  expect(() => new Webhook(endpoint.secret).verify(body, headers as Record<string, string>)).not.toThrow();
});

test("a delivery that fails is tried ten times, each a step later, and then has failed", async () => {
  const clock = stoppedClock();
  receiver.answer(reply(500, {}, "not today"));
  const endpoint = await newEndpoint(database, receiver.url);
  await addDeliveries(database, endpoint, 1, { clock });
  startLanes(database, owner, { clock });
  const steps = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
  for (const [index, step] of steps.entries()) {
    const [delivery] = await untilAll(endpoint, ({ attempts }) => attempts === index + 1);
    const delay = ((delivery?.due_at ?? 0) - clock.now) / micros;
    expect([index, delivery?.status, delay >= step * 0.8 && delay <= step * 1.2]).toEqual([index, "pending", true]);
    clock.now = delivery?.due_at ?? 0;
  }
  const [failed] = await untilAll(endpoint, ({ status }) => status === "failed");
  expect(failed).toMatchObject({ attempts: 10, due_at: null, error: "http_status", response_status: 500 });
  expect(failed?.attempt_log).toHaveLength(10);
  expect(failed?.attempt_log[9]).toMatchObject({ status: 500, error: "http_status", excerpt: "not today" });
  expect(receiver.received.map(({ headers }) => headers["daybook-attempt"])).toEqual(
    Array.from({ length: 10 }, (_, index) => String(index + 1)),
  );
  expect(new Set(idsOf(receiver)).size).toBe(1);
});

test("an answer may ask for a later time, of at most a day", async () => {
  const clock = stoppedClock();
  receiver.answer(reply(429, { "retry-after": "100" }));
  const endpoint = await newEndpoint(database, receiver.url);
  await addDeliveries(database, endpoint, 1, { clock });
  startLanes(database, owner, { clock });
  const [first] = await untilAll(endpoint, ({ attempts }) => attempts === 1);
  expect(first?.due_at).toBe(clock.now + 100 * micros);
  receiver.answer(reply(503, { "retry-after": "9999999" }));
  clock.now += 100 * micros;
  const [next] = await untilAll(endpoint, ({ attempts }) => attempts === 2);
  expect(next?.due_at).toBe(clock.now + 86_400 * micros);
});

test("a breaker opens after ten failures, lets one message try, and uses up no attempts meanwhile", async () => {
  const clock = stoppedClock();
  receiver.answer(reply(500));
  const endpoint = await newEndpoint(database, receiver.url);
  await addDeliveries(database, endpoint, 40, { clock });
  startLanes(database, owner, { clock });
  const pausedUntil = async (): Promise<number | null> => {
    const { rows } = await database.query<{ paused_until: number | null }>(
      "SELECT paused_until FROM webhook.endpoint_health WHERE property_id = $1 AND endpoint_id = $2",
      [endpoint.property, endpoint.id],
    );
    return rows[0]?.paused_until ?? null;
  };
  const untilPausedFor = (seconds: number) =>
    eventually(async () => ((await pausedUntil()) === clock.now + seconds * micros ? true : undefined));
  await untilPausedFor(30);
  // Some were under way when the tenth failed, and may arrive only now.
  await eventually(async () => {
    const untouched = (await deliveriesOf(database, endpoint)).filter(({ attempts }) => attempts === 0);
    return untouched.length === 40 - receiver.received.length ? true : undefined;
  });
  const tried = receiver.received.length;
  expect(tried).toBeGreaterThanOrEqual(10);
  expect(tried).toBeLessThan(15);
  for (const [index, seconds] of [60, 120, 240, 480, 900, 900].entries()) {
    clock.now = (await pausedUntil()) ?? 0;
    await untilPausedFor(seconds);
    expect(receiver.received.length).toBe(tried + index + 1);
  }
  receiver.answer(accept);
  clock.now = (await pausedUntil()) ?? 0;
  await untilAll(endpoint, ({ status, due_at: dueAt }) => status === "delivered" || (dueAt ?? 0) > clock.now);
  expect(await pausedUntil()).toBe(null);
});

test("410 disables the endpoint, and nothing more is sent", async () => {
  receiver.answer(reply(410));
  const endpoint = await newEndpoint(database, receiver.url);
  await addDeliveries(database, endpoint, 30);
  const lanes = startLanes(database, owner);
  await eventually(() => (lanes.disabled.length > 0 ? true : undefined));
  await lanes.close();
  expect(lanes.disabled).toEqual(["gone"]);
  expect(receiver.received.length).toBeLessThan(5);
  const failed = (await deliveriesOf(database, endpoint)).find(({ status }) => status === "failed");
  expect(failed).toMatchObject({ attempts: 1, response_status: 410 });
});

test("an endpoint is given up after five days, twenty failures and two days of them, not sooner", async () => {
  const clock = stoppedClock();
  receiver.answer(reply(500));
  const endpoint = await newEndpoint(database, receiver.url);
  await addDeliveries(database, endpoint, 100, { clock });
  const lanes = startLanes(database, owner, { clock });
  const day = 86_400 * micros;
  await eventually(() => (receiver.received.length >= 10 ? true : undefined));
  const failures = async (): Promise<number> => {
    const { rows } = await database.query<{ failures: number }>(
      "SELECT failures FROM webhook.endpoint_health WHERE endpoint_id = $1",
      [endpoint.id],
    );
    return rows[0]?.failures ?? 0;
  };
  const start = clock.now;
  clock.now = start + 4.5 * day;
  for (let before = await failures(); before < 25; before = await failures()) {
    await eventually(async () => ((await failures()) > before ? true : undefined));
    clock.now += 901 * micros;
  }
  expect(clock.now).toBeLessThan(start + 5 * day);
  expect(lanes.disabled).toEqual([]);
  clock.now = start + 5.1 * day;
  await eventually(() => (lanes.disabled.length > 0 ? true : undefined));
  expect(lanes.disabled).toEqual(["failing"]);
});

test("endpoints that are dead, slow or hostile keep nobody waiting", async () => {
  const dead = owner.own(await startListener(() => undefined, { authority }));
  const slow = owner.own(await startReceiver(authority, acceptAfter(1_500)));
  const hostile = owner.own(
    await startListener(
      (socket) => socket.on("data", () => socket.write(`HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(10_000)}`)),
      { authority },
    ),
  );
  const slotCounts = { healthy: 8, suspect: 6, suspectPerProperty: 6, slow: 20 };
  const lanes = startLanes(database, owner, { slotCounts, leaseMs: 30_000, attemptTimeoutMs: 3_000 });
  for (const url of [`https://127.0.0.1:${dead.port}/`, slow.url, `https://127.0.0.1:${hostile.port}/`]) {
    await addDeliveries(database, await newEndpoint(database, url), 500, { lanes });
  }
  await eventually(() => (dead.connections() > 0 && slow.received.length > 0 ? true : undefined));
  const endpoint = await newEndpoint(database, receiver.url);
  const latencies: number[] = [];
  for (let index = 0; index < 100; index++) {
    const from = performance.now();
    await addDeliveries(database, endpoint, 1, { lanes });
    await eventually(() => (receiver.received.length > index ? true : undefined), { timeoutMs: 5_000 });
    // The first has a slot of the suspect ones.
    if (index > 0) latencies.push(performance.now() - from);
  }
  // One attempt to any of the others takes longer than a second.
  expect(latencies.toSorted((one, other) => one - other)[94]).toBeLessThan(1_000);
});

test("a rate limit holds over two processes together", async () => {
  const endpoint = await newEndpoint(database, receiver.url, { rate: 10 });
  await addDeliveries(database, endpoint, 35);
  for (let index = 0; index < 2; index++) startLanes(database, owner, { leaseMs: 30_000 });
  await eventually(() => (receiver.received.length === 35 ? true : undefined));
  const times = receiver.received.map(({ at }) => at);
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(2_000);
  // Within a second of their own, which may lie across two of the clock's.
  for (const from of times)
    expect(times.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(20);
});

test("an endpoint that was changed gets the next attempt at its new address, and one that is disabled none", async () => {
  const endpoint = await newEndpoint(database, receiver.url);
  const lanes = startLanes(database, owner);
  await addDeliveries(database, endpoint, 1, { lanes });
  await untilAll(endpoint, isDelivered);
  const other = owner.own(await startReceiver(authority));
  const set = (column: string, value: string) =>
    database.query(`UPDATE webhook.endpoints SET ${column} = $3 WHERE property_id = $1 AND id = $2`, [
      endpoint.property,
      endpoint.id,
      value,
    ]);
  await set("url", other.url);
  lanes.refresh(endpoint.id);
  await addDeliveries(database, endpoint, 1, { lanes });
  await untilAll(endpoint, isDelivered);
  expect([receiver.received.length, other.received.length]).toEqual([1, 1]);
  await database.query(
    `UPDATE webhook.endpoints SET status = 'disabled', disabled_reason = 'manual', disabled_at = now() WHERE id = $1`,
    [endpoint.id],
  );
  lanes.refresh(endpoint.id);
  await addDeliveries(database, endpoint, 5, { lanes });
  // Another endpoint is sent to meanwhile.
  const last = await newEndpoint(database, receiver.url);
  await addDeliveries(database, last, 1, { lanes });
  await untilAll(last, isDelivered);
  expect(other.received.length).toBe(1);
});

test("what waits to be sent of a person is not sent any more once it was emptied, by whichever process", async () => {
  const endpoint = await newEndpoint(database, receiver.url, { rate: 1 });
  const [person, other] = [newUuid(), newUuid()];
  const lanes = startLanes(database, owner);
  await addDeliveries(database, endpoint, 60, { lanes, profile: person });
  await eventually(() => (receiver.received.length > 0 ? true : undefined));
  const context = { database, clock: systemClock } as unknown as WebhookContext;
  await redact(context, endpoint.property, [person]);
  // Two looks at the endpoint: what was being sent has gone.
  await sleep(3_000);
  const sent = receiver.received.length;
  await addDeliveries(database, endpoint, 3, { lanes, profile: other });
  await untilAll(endpoint, ({ status }) => status !== "pending");
  expect(receiver.received.length - sent).toBe(3);
  const states = Map.groupBy(await deliveriesOf(database, endpoint), ({ status }) => status);
  // Some were on their way when they were cancelled.
  expect(states.get("cancelled")?.length).toBeGreaterThanOrEqual(60 - sent);
});

test("a large backlog is read a page at a time", async () => {
  const endpoint = await newEndpoint(database, receiver.url);
  await addDeliveries(database, endpoint, 5_000);
  receiver.answer(acceptAfter(20));
  startLanes(database, owner, { leaseMs: 30_000 });
  await eventually(() => (receiver.received.length > 500 ? true : undefined));
  const { rows } = await database.query<{ leased: number }>(
    "SELECT count(*) AS leased FROM webhook.deliveries WHERE endpoint_id = $1 AND due_at > now()",
    [endpoint.id],
  );
  expect(rows[0]?.leased).toBeLessThan(500);
});

function startProcess(): RunningProcess {
  const env = { DATABASE_URL: databaseUrl, NODE_EXTRA_CA_CERTS: caFile };
  return owner.own(startNode("test/support/lanes.process.ts", env));
}

test("two processes send nothing twice, and one that is killed loses nothing", async () => {
  const endpoint = await newEndpoint(database, receiver.url);
  receiver.answer(acceptAfter(20));
  const [first, second] = [startProcess(), startProcess()];
  for (const { output } of [first, second]) {
    await eventually(() => (output().includes("sending") ? true : undefined), { explain: output });
  }
  await addDeliveries(database, endpoint, 1_000);
  await untilAll(endpoint, isDelivered);
  expect(receiver.received).toHaveLength(1_000);
  expect(new Set(idsOf(receiver)).size).toBe(1_000);
  await addDeliveries(database, endpoint, 1_000);
  await eventually(() => (receiver.received.length > 1_300 ? true : undefined));
  second?.child.kill("SIGKILL");
  await second?.ended;
  await untilAll(endpoint, isDelivered);
  expect(new Set(idsOf(receiver)).size).toBe(2_000);
  // What was sent and not yet recorded.
  expect(receiver.received.length - 2_000).toBeLessThan(200);
});
