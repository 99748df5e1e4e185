/**
 * Processes are killed and the bus loses its store while webhooks are sent, replayed and erased: no message is lost,
 * and one that comes twice has the same `webhook-id`.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { decodeId } from "#shared/values/ids.ts";
import { connectTo, type TestDaybook, type TestProperty } from "../support/daybook.ts";
import { createDatabase } from "../support/database.ts";
import { keyed } from "../support/idempotency.ts";
import { startKillableMesh, type KillableMesh } from "../support/mesh.ts";
import { startNats, type NatsServer } from "../support/nats.ts";
import { newProfile } from "../support/people.ts";
import { askPrivacy, untilEnded } from "../support/privacy.ts";
import { eventually, freePort } from "../support/processes.ts";
import { random } from "../support/random.ts";
import { acceptAfter, createAuthority, startReceiver, type Authority, type Receiver } from "../support/receivers.ts";

const owner = new Owner();
let authority: Authority;
let folder: string;
let mesh: KillableMesh;
let daybook: TestDaybook;
let nats: NatsServer;
let natsPort: number;
let database: pg.Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "daybook-webhooks-killed-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  authority = await createAuthority();
  const caFile = join(folder, "ca.pem");
  await writeFile(caFile, authority.ca);
  natsPort = await freePort();
  nats = await startNats(join(folder, "first"), natsPort);
  owner.defer(() => nats.close());
  const { url: databaseUrl } = owner.own(await createDatabase(inject("databaseUrl")));
  const env = {
    NODE_EXTRA_CA_CERTS: caFile,
    WEBHOOK_ALLOWED_NETWORKS: "127.0.0.0/8",
    REDACTION_SWEEP_SECONDS: "1",
  };
  mesh = await startKillableMesh({ databaseUrl, natsUrl: nats.url, env }, owner);
  daybook = connectTo(mesh.addresses);
  database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  owner.defer(() => database.end());
});
afterAll(() => owner.close());

async function newEndpoint(api: TestProperty, receiver: Receiver, types: string[]) {
  const { status, body } = await api.post("/v1/webhook-endpoints", { url: receiver.url, types });
  expect(status).toBe(201);
  return body.data as { id: string; secret: string };
}

/** Records an event, however long a service is away. @returns its id. */
async function record(api: TestProperty, fields: object): Promise<string> {
  const key = keyed(crypto.randomUUID());
  const event = { type: "order.completed", properties: {}, ...fields };
  for (;;) {
    const { status, body } = await api.post("/v1/events", event, key);
    if (status === 201) return body.data.id;
    expect([409, 503]).toContain(status);
    await sleep(50);
  }
}

/** The events that a receiver was told of, each with the ids of the messages that told it. */
function toldOf({ received }: Receiver, secret: string): Map<string, Set<string>> {
  const told = new Map<string, Set<string>>();
  for (const { headers, body } of received) {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    const { id } = JSON.parse(body).data;
    told.set(id, (told.get(id) ?? new Set()).add(String(headers["webhook-id"])));
  }
  return told;
}

/** What a service that is killed has leased comes a minute later, and what its successor leased again later still. */
const sentWithinMs = 180_000;

/** Where the way of a message may have ended. */
async function describeDeliveries(): Promise<string> {
  const deliveries = `SELECT status, attempts, error, count(*)::int AS count, min(due_at), max(due_at), max(created_at)
    FROM webhook.deliveries GROUP BY status, attempts, error`;
  const { rows } = await database.query(deliveries);
  const outbox = await database.query("SELECT epoch, count(*)::int AS count FROM event.outbox GROUP BY epoch");
  return JSON.stringify({ now: new Date(), deliveries: rows, outbox: outbox.rows, log: mesh.output().slice(-2_000) });
}

/** Waits until a receiver was told of every event, and checks that each has one message. */
async function expectTold(receiver: Receiver, secret: string, events: readonly string[]): Promise<void> {
  const isTold = (): boolean => {
    if (receiver.received.length < events.length) return false;
    const told = toldOf(receiver, secret);
    return events.every((id) => told.has(id));
  };
  try {
    await eventually(() => isTold() || undefined, { timeoutMs: sentWithinMs });
  } catch (error) {
    const known = toldOf(receiver, secret).size;
    throw new Error(`of ${events.length} events it knows ${known}: ${await describeDeliveries()}`, { cause: error });
  }
  const told = toldOf(receiver, secret);
  expect([...told.keys()].toSorted()).toEqual([...events].toSorted());
  expect([...told.values()].filter((messages) => messages.size !== 1)).toEqual([]);
}

/** Waits until all deliveries to an endpoint have ended well. */
async function expectDelivered(api: TestProperty, endpointId: string, count: number): Promise<void> {
  const ids = [decodeId("prop", api.propertyId, "property_id"), decodeId("hook", endpointId, "id")];
  const text = `SELECT status, count(*)::int AS count FROM webhook.deliveries
    WHERE property_id = $1 AND endpoint_id = $2 GROUP BY status`;
  let rows: { status: string; count: number }[] = [];
  await eventually(
    async () => {
      ({ rows } = await database.query(text, ids));
      const [found, ...others] = rows;
      return (others.length === 0 && found?.status === "delivered" && found.count >= count) || undefined;
    },
    { timeoutMs: sentWithinMs, explain: () => JSON.stringify(rows) },
  );
  expect(rows).toEqual([{ status: "delivered", count }]);
}

/** Asks for a replay of a thousand events that an endpoint was not told of. */
async function startReplay() {
  const api = await daybook.newProperty();
  const batch = Array.from({ length: 1_000 }, (_, index) => ({
    type: "page.viewed",
    identifier: { type: "card", value: `${index}` },
    properties: {},
  }));
  const witness = owner.own(await startReceiver(authority));
  const { secret: witnessed } = await newEndpoint(api, witness, ["event.recorded"]);
  const { body } = await api.post("/v1/events/batch", { events: batch });
  const events: string[] = body.data.results.map(({ data }: { data: { id: string } }) => data.id);
  // An endpoint is told of what is still on its way when it is made.
  await expectTold(witness, witnessed, events);
  const receiver = owner.own(await startReceiver(authority, acceptAfter(10)));
  const { id: endpoint, secret } = await newEndpoint(api, receiver, ["event.recorded"]);
  const [from, to] = [new Date(Date.now() - 3_600_000).toISOString(), new Date().toISOString()];
  const asked = await api.post(`/v1/webhook-endpoints/${endpoint}/replay`, { from, to, only: "all" });
  expect([asked.status, asked.text]).toEqual([202, expect.any(String)]);
  return { api, receiver, endpoint, secret, events };
}

// Together, because what a killed service has leased comes a minute later, for both.
test("what is sent and replayed while services are killed and the bus is wiped", { timeout: 600_000 }, async () => {
  const api = await daybook.newProperty();
  const receiver = owner.own(await startReceiver(authority, acceptAfter(10)));
  const { id: endpoint, secret } = await newEndpoint(api, receiver, ["event.recorded"]);
  const over = new AbortController();
  const events: string[] = [];
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    while (!over.signal.aborted) {
      events.push(await record(api, { identifier: { type: "card", value: `c-${writer}` } }));
      await sleep(random(20));
    }
  });
  await eventually(() => receiver.received.length > 20 || undefined);
  const replay = await startReplay();
  for (let kill = 0; kill < 3; kill++) {
    await sleep(random(400));
    await mesh.restart("webhook");
  }
  for (const name of ["event", "webhook"] as const) {
    await sleep(random(1_000));
    await mesh.restart(name);
  }
  await sleep(random(500));
  await nats.close();
  nats = await startNats(join(folder, "second"), natsPort);
  await sleep(random(1_000));
  await mesh.restart("webhook");
  over.abort();
  await Promise.all(writers);
  await expectTold(receiver, secret, events);
  await expectDelivered(api, endpoint, events.length);
  await expectTold(replay.receiver, replay.secret, replay.events);
  await expectDelivered(replay.api, replay.endpoint, replay.events.length);
});

test("an erasure whose services are killed again and again", { timeout: 600_000 }, async () => {
  const api = await daybook.newProperty();
  const receiver = owner.own(await startReceiver(authority));
  const { id: endpoint, secret } = await newEndpoint(api, receiver, ["event.recorded", "privacy_request.completed"]);
  const email = { type: "email", value: "ada.killed@example.com" };
  const person = await newProfile(api, { identifiers: [email] });
  const events = [];
  for (let index = 0; index < 20; index++) {
    events.push(await record(api, { profile_id: person.id, properties: { note: email.value } }));
  }
  await expectDelivered(api, endpoint, 20);
  const id = await askPrivacy(api, { type: "erasure", identifiers: [email], suppress: true });
  for (const name of ["profile", "event", "webhook", "profile"] as const) {
    await sleep(random(1_500));
    await mesh.restart(name);
  }
  const { counts } = await untilEnded(daybook, api.propertyId, id);
  expect(counts).toMatchObject({ profiles: 1n, identifiers: 1n, webhookMessages: 20n });
  expect((await api.get(person.path)).body.data.status).toBe("redacted");
  for (const event of events) expect((await api.get(`/v1/events/${event}`)).body.data.properties).toEqual({});
  const settled = await eventually(() => receiver.received.find(({ body }) => body.includes("privacy_request.")));
  expect(settled.body).not.toContain(email.value);
  expect(() => new Webhook(secret).verify(settled.body, settled.headers as Record<string, string>)).not.toThrow();
  const { rows } = await database.query("SELECT 1 FROM webhook.messages WHERE body LIKE '%ada.killed%'");
  expect(rows).toEqual([]);
});
