/**
 * NATS comes late, and goes away for a while: profiles and events go on, and what was to be told is told when it is
 * back.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { connectNatsBus } from "#shared/bus/nats/bus.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { startSingleProcess, testCall, testSigner, type TestDaybook } from "../support/daybook.ts";
import { startNats, type NatsServer } from "../support/nats.ts";
import { newEmail, newProfile } from "../support/people.ts";
import { eventually, freePort } from "../support/processes.ts";

const owner = new Owner();
let folder: string;
let port: number;
let nats: NatsServer;
let daybook: TestDaybook;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "daybook-bus-away-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  port = await freePort();
  const url = `nats://127.0.0.1:${port}`;
  // Whoever connects first waits for it.
  const early = connectNatsBus({
    signer: testSigner,
    servers: [url],
    name: "early",
    log: createLog("test", "silent"),
    registry: createRegistry(),
  });
  nats = await startNats(join(folder, "store"), port);
  owner.own(await early);
  daybook = await startSingleProcess(owner, { nats: { servers: [url] }, log: createLog("test", "fatal") });
});
afterAll(async () => {
  await owner.close();
  await nats.close();
});

async function whileAway(work: () => Promise<void>): Promise<void> {
  await nats.close();
  try {
    await work();
  } finally {
    nats = await startNats(join(folder, "store"), port);
  }
}

test("a person who was gained, lost and redacted meanwhile leaves no event behind", async () => {
  const api = await daybook.newProperty();
  const card = { type: "card", value: "7391" };
  const record = async (identifier: object) =>
    (await api.post("/v1/events", { type: "page.viewed", identifier, properties: { word: "secret" } })).body.data;
  const events = [await record(card)];
  let id = "";
  await whileAway(async () => {
    events.push(await record(card));
    const person = await newProfile(api, { identifiers: [card, newEmail()] });
    id = person.id;
    expect((await api.patch(person.path, { attributes: { a: 1 } })).status).toBe(200);
    const { data } = (await api.get(`${person.path}/identifiers`)).body;
    const cardId = data.find(({ type }: { type: string }) => type === "card").id;
    expect((await api.delete(`${person.path}/identifiers/${cardId}`)).status).toBe(200);
    await daybook.clients.profiles.redactProfile({ propertyId: api.propertyId, profileId: id }, testCall);
    expect((await api.post("/v1/profiles/upsert", { identifiers: [newEmail()] })).status).toBe(201);
  });
  for (const event of events) {
    await eventually(
      async () => {
        const { data } = (await api.get(`/v1/events/${event.id}`)).body;
        return data.profile_id === id && Object.keys(data.properties).length === 0 ? true : undefined;
      },
      { timeoutMs: 60_000, explain: () => "an event is not emptied" },
    );
  }
  const types = async () =>
    (await api.get("/v1/events?filter[source]=system&sort=occurred_at")).body.data.map(
      ({ type }: { type: string }) => type,
    );
  await eventually(async () => ((await types()).length === 3 ? true : undefined), { timeoutMs: 60_000 });
  expect(await types()).toEqual(["profile.created", "profile.redacted", "profile.created"]);
}, 180_000);
