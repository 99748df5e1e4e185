/**
 * Processes that start, or are killed, while what they need is away: each does its part as soon as it can, and none
 * gives up.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createDatabase } from "../support/database.ts";
import { connectTo, type TestProperty } from "../support/daybook.ts";
import { serviceNames, startKillableMesh, type KillableMesh } from "../support/mesh.ts";
import { startNats, type NatsServer } from "../support/nats.ts";
import { newEmail, newProfile } from "../support/people.ts";
import { eventually, freePort, startNode } from "../support/processes.ts";
import { startProxy } from "../support/proxy.ts";
import { aggregatesPath } from "../support/recount.ts";

const owner = new Owner();
let folder: string;
let natsPort: number;
let nats: NatsServer;
let mesh: KillableMesh;
let api: TestProperty;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "daybook-outages-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  natsPort = await freePort();
  nats = await startNats(folder, natsPort);
  owner.defer(() => nats.close());
  const { url: databaseUrl } = owner.own(await createDatabase(inject("databaseUrl")));
  mesh = await startKillableMesh({ databaseUrl, natsUrl: nats.url }, owner);
});
beforeEach(async () => {
  api = await connectTo(mesh.addresses).newProperty();
});
afterAll(() => owner.close());

async function record(identifier: object): Promise<{ id: string; received_at: string }> {
  const { status, text, body } = await api.post("/v1/events", { type: "outage.event", identifier, properties: {} });
  expect([text, status]).toEqual([text, 201]);
  return body.data;
}

const dayMs = 24 * 3_600_000;

/** How many events are counted, and up to when all of them are. */
async function readCount(): Promise<{ count: number; asOf: string } | undefined> {
  const range = { from: new Date(Date.now() - dayMs).toISOString(), to: new Date(Date.now() + dayMs).toISOString() };
  const { status, body } = await api.post(aggregatesPath, { metric: "outage.event", ...range });
  if (status !== 200) return undefined;
  const counts: number[] = body.data.series[0].count;
  return { count: counts.reduce((sum, count) => sum + count, 0), asOf: body.meta.as_of };
}

// The first: an event service that was killed holds up for a minute what is known to be counted.
test("what the metric service had in hand when it was killed is counted seconds later", async () => {
  await record(newEmail());
  await eventually(async () => ((await readCount())?.count === 1 ? true : undefined));

  // The service is given messages, and cannot write what it makes of them.
  const blocker = new pg.Client({ connectionString: mesh.addresses.databaseUrl });
  await blocker.connect();
  owner.defer(() => blocker.end());
  await blocker.query("BEGIN");
  await blocker.query("LOCK TABLE metric.operations IN ACCESS EXCLUSIVE MODE");
  const { received_at: receivedAt } = await record(newEmail());
  await eventually(async () => {
    const text =
      "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'daybook-metric%' AND wait_event_type = 'Lock'";
    return (await blocker.query(text)).rowCount ? true : undefined;
  });
  await mesh.kill("metric");
  await blocker.query("ROLLBACK");
  const killedAtMs = performance.now();
  await mesh.restart("metric");
  const restartedAtMs = performance.now();
  await eventually(
    async () => {
      const read = await readCount();
      return read && read.count === 2 && read.asOf >= receivedAt ? true : undefined;
    },
    { timeoutMs: 60_000, explain: () => "the event is not counted" },
  );
  // 5 s on a quiet machine, and as long again on a busy one; the start itself is not part of it.
  const startMs = restartedAtMs - killedAtMs;
  expect(performance.now() - killedAtMs).toBeLessThan(10_000 + startMs);
}, 240_000);

test("a gateway is ready while identity is, and tells which services it reaches", async () => {
  const { gatewayUrl } = mesh.addresses;
  const statusOf = async (): Promise<number> => (await fetch(`${gatewayUrl}/health/ready`)).status;
  const reachable = async (): Promise<Record<string, string>> => {
    const metrics = await (await fetch(`${mesh.internalUrl("gateway")}/metrics`)).text();
    return Object.fromEntries(
      [...metrics.matchAll(/^daybook_service_reachable\{service="(\w+)"\} (\d)$/gm)].map(([, name, value]) => [
        name,
        value,
      ]),
    );
  };
  const all = { identity: "1", profile: "1", event: "1", metric: "1", webhook: "1" };
  const untilReachable = (expected: Record<string, string>) =>
    eventually(async () => (isDeepStrictEqual(await reachable(), expected) ? true : undefined));
  await untilReachable(all);
  for (const name of ["profile", "event", "metric"] as const) await mesh.kill(name);
  await untilReachable({ ...all, profile: "0", event: "0", metric: "0" });
  expect(await statusOf()).toBe(200);
  expect((await api.get("/v1/events")).status).toBe(503);
  await mesh.kill("identity");
  await eventually(async () => ((await statusOf()) === 503 ? true : undefined));
  for (const name of serviceNames) await mesh.restart(name);
  await untilReachable(all);
  expect(await statusOf()).toBe(200);
}, 240_000);

test("services that start while NATS is away serve, and all that was to be told is told when it is there", async () => {
  const card = { type: "card", value: "7391" };
  const early = await record(card);
  await nats.close();
  // Each is ready before NATS is back.
  for (const name of serviceNames) await mesh.restart(name);
  await record(newEmail());
  const holder = await newProfile(api, { identifiers: [card, newEmail()] });
  nats = await startNats(folder, natsPort);
  await record(newEmail());
  await eventually(async () => ((await readCount())?.count === 3 ? true : undefined), { timeoutMs: 60_000 });
  // By way of the profile service, its outbox, and the event service.
  await eventually(
    async () => ((await api.get(`/v1/events/${early.id}`)).body.data.profile_id === holder.id ? true : undefined),
    { timeoutMs: 60_000, explain: () => "the event of the card is not linked" },
  );
  expect((await readCount())?.count).toBe(3);
}, 240_000);

test("services whose database is away, and breaks them in the middle of their migrations, go on until they are ready", async () => {
  const { port } = new URL(inject("databaseUrl"));
  await Promise.all(
    serviceNames.map(async (name) => {
      const { url } = owner.own(await createDatabase(inject("databaseUrl")));
      const proxy = owner.own(await startProxy());
      proxy.sendTo(Number(port));
      const databaseUrl = new URL(url);
      databaseUrl.port = String(proxy.port);
      proxy.breakAfter(0);
      const internal = await freePort();
      const service = owner.own(
        startNode(`services/${name}/main.ts`, {
          HOST: "127.0.0.1",
          PORT: "0",
          INTERNAL_PORT: String(internal),
          INTERNAL_TOKEN: "a token for the mesh of the tests only",
          DATABASE_URL: databaseUrl.href,
          // Nobody is there.
          NATS_URL: `nats://127.0.0.1:${await freePort()}`,
          LOG_LEVEL: "warn",
        }),
      );
      const seen = (): string => `${name}: ${service.output()}`;
      const waits = /"PostgreSQL is away[^"]*"/g;
      await eventually(() => (service.output().match(waits) ? true : undefined), { explain: seen });
      // A connection says who it is within its first 500 bytes, and migrates in what follows.
      for (let bytes = 200; bytes < 12_000; bytes *= 1.3) {
        proxy.breakAfter(bytes);
        await sleep(300);
        expect([seen(), service.child.exitCode]).toEqual([seen(), null]);
      }
      proxy.breakAfter(Number.POSITIVE_INFINITY);
      await eventually(async () => ((await fetch(`http://127.0.0.1:${internal}/health/ready`)).ok ? true : undefined), {
        explain: seen,
      });
      service.child.kill("SIGTERM");
      expect(await service.ended).toEqual({ code: 0, signal: null });
    }),
  );
}, 240_000);
