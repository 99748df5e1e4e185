/**
 * Whoever reaches NATS can publish there: what is not signed with the internal token changes nothing, and what is for
 * good needs its owner's word too.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import {
  ProfilesChangedSchema,
  UpsertProfileRequestSchema,
  type ProfileChangeSchema,
} from "#proto/daybook/profile/v1/profile_pb.ts";
import { systemClock } from "#shared/values/clock.ts";
import { newId, newUuid } from "#shared/values/ids.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { connectNatsBus } from "#shared/bus/nats/bus.ts";
import { signatureAgeMaxMs } from "#shared/bus/signatures.ts";
import { createSigner, signatureHeader, type Signer } from "#shared/bus/nats/signature.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { allTaken } from "../support/counting.ts";
import { createDatabase } from "../support/database.ts";
import {
  singleProcessToken,
  startSingleProcess,
  testCall,
  testSigner,
  type SingleProcess,
} from "../support/daybook.ts";
import {
  captureMessages,
  listConsumers,
  publishAsStranger,
  publishDeadLetter,
  startNats,
  type NatsServer,
} from "../support/nats.ts";
import { newEmail, newProfile } from "../support/people.ts";
import { askAccess } from "../support/privacy.ts";
import { eventually } from "../support/processes.ts";

const log = createLog("test", "silent");
const owner = new Owner();
const registry = createRegistry();
const previousToken = "the token that the mesh had before the one of now";
const stranger = createSigner("a token that nobody of the mesh has ever had at all");
const expired = createSigner(singleProcessToken, undefined, () => Date.now() - signatureAgeMaxMs - 1_000);
let nats: NatsServer;
let daybook: SingleProcess;
let database: pg.Client;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-forged-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  nats = owner.own(await startNats(folder));
  const { url } = owner.own(await createDatabase(inject("databaseUrl")));
  daybook = await startSingleProcess(owner, {
    databaseUrl: url,
    nats: { servers: [nats.url] },
    acceptedToken: previousToken,
    registry,
    log,
  });
  database = new pg.Client({ connectionString: url });
  await database.connect();
  owner.defer(() => database.end());
});
afterAll(() => owner.close());

// The outbox says how far messages are, and `writers` which processes record: both change without any message.
const ownTables = `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('profile', 'event', 'metric') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname NOT IN ('outbox', 'writers')`;

/** Everything that the services keep. */
async function readAll(): Promise<Record<string, string[]>> {
  const { rows: tables } = await database.query<{ name: string }>(ownTables);
  const all: Record<string, string[]> = {};
  for (const { name } of tables) {
    const { rows } = await database.query<{ row: string }>(`SELECT row_to_json(t)::text AS row FROM ${name} t`);
    all[name] = rows.map(({ row }) => row).toSorted();
  }
  return all;
}

/** Does what sends a message of every kind. */
async function sendEverything(): Promise<void> {
  const api = await daybook.newProperty();
  const { propertyId } = api;
  const customer = { type: "customer_id", value: newUuid() };
  const event = { type: "page.viewed", identifier: customer, properties: { word: "kept" } };
  expect((await api.post("/v1/events", event)).status).toBe(201);
  // It has the identifier of the anonymous event.
  await newProfile(api, { identifiers: [newEmail(), customer] });
  const items = [
    {
      event: {
        type: "a.a",
        propertiesJson: "{}",
        profile: { reference: { case: "identifier" as const, value: newEmail() } },
      },
    },
  ];
  await daybook.clients.events.createEventJob({ propertyId, jobId: newId("job"), items }, testCall);
  const upsert = create(UpsertProfileRequestSchema, { identifiers: [newEmail()], source: "import" });
  const origin = { operation: "test", requestId: newId("req"), keyId: api.keyId, keyName: "test" };
  const nobody = create(UpsertProfileRequestSchema, { identifiers: [{ type: "email", value: "x" }], source: "import" });
  const people = [upsert, nobody].map((value) => ({ write: { case: "upsert" as const, value }, originalJson: "{}" }));
  await daybook.clients.profiles.createImportJob({ propertyId, jobId: newId("job"), items: people, origin }, testCall);
  // Of what is refused to a key, a report is sent a while later.
  expect((await api.post("/v1/events", { properties: {} })).status).toBe(400);
  await askAccess(api, { identifiers: [newEmail()] });
}

const uuidPattern = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A message with other ids in the place of its own, so that it would not count as a repeat. */
function withNewIds(data: Uint8Array): Uint8Array {
  const text = Buffer.from(data).toString("latin1");
  return Buffer.from(
    text.replaceAll(uuidPattern, () => newUuid()),
    "latin1",
  );
}

const withSignature = (signature: string): MsgHdrs => {
  const given = headers();
  given.set(signatureHeader, signature);
  return given;
};

const deadLettersOf = async (): Promise<Map<string, number>> => {
  const { consumers } = await daybook.clients.outboxes.event.describeBus({}, testCall);
  return new Map(consumers.map(({ name, deadLetters }) => [name, Number(deadLetters)]));
};

test("a message of any kind changes nothing unless it is signed for its subject, and a signed one that comes again neither", async () => {
  const { captured, stop } = await captureMessages(nats.url);
  await sendEverything();
  const consumers = await listConsumers(nats.url);
  // Whoever adds a consumer adds what sends it a message, above.
  const subjects = consumers.map(({ subject }) => subject);
  await eventually(() => subjects.every((subject) => captured.has(subject)) || undefined, {
    explain: () => `nothing was sent to ${subjects.filter((subject) => !captured.has(subject)).join(", ")}`,
  });
  await allTaken(daybook);
  await stop();
  expect([...captured.keys()].toSorted()).toEqual([...new Set(subjects)].toSorted());
  const before = await readAll();

  const other = (subject: string): string => subjects.find((one) => one !== subject) ?? "";
  const forged = [...captured.values()].flatMap(({ subject, data, headers: given }) => {
    const fresh = withNewIds(data);
    const own = given?.get(signatureHeader) ?? "";
    expect(own).not.toBe("");
    return [
      { subject, data: fresh, headers: headers() },
      { subject, data: fresh, headers: withSignature("") },
      { subject, data: fresh, headers: withSignature("x".repeat(60_000)) },
      { subject, data: fresh, headers: stranger.sign(subject, fresh) },
      { subject, data: fresh, headers: testSigner.sign(other(subject), fresh) },
      { subject, data: Buffer.concat([data, Buffer.of(0xf8, 1, 0)]), headers: withSignature(own) },
      { subject, data, headers: withSignature(own.slice(0, -2)) },
      { subject, data: fresh, headers: expired.sign(subject, fresh) },
      { subject, data, headers: withSignature(own.replace(/^\d+/, String(Date.now() + 1))) },
    ];
  });
  const kinds = forged.length / captured.size;
  await publishAsStranger(nats.url, forged);
  const areAllDead = (): Promise<true> =>
    eventually(async () => {
      const dead = await deadLettersOf();
      return consumers.every(({ name }) => dead.get(name) === kinds) ? true : undefined;
    });
  await areAllDead();
  expect(await readAll()).toEqual(before);
  for (const { name } of consumers) {
    expect(await registry.metrics()).toContain(`daybook_bus_unsigned_messages_total{consumer="${name}"} ${kinds}\n`);
  }

  // An operator who gives them back does not sign them; nor what a stranger put among the dead letters.
  const first = consumers[0] ?? { name: "", subject: "" };
  await publishDeadLetter(nats.url, undefined, {
    consumer: first.name,
    id: newUuid(),
    subject: first.subject,
    payload: withNewIds(captured.get(first.subject)?.data ?? new Uint8Array()),
  });
  const retried = await daybook.clients.outboxes.event.retryDeadLetters({}, testCall);
  const letters = consumers.length * kinds + 1;
  expect(retried.retried).toBe(letters);
  await eventually(async () => {
    const dead = [...(await deadLettersOf()).values()].reduce((sum, count) => sum + count, 0);
    return dead === letters ? true : undefined;
  });
  expect(await readAll()).toEqual(before);

  // What was captured is good for ever, and says nothing new.
  await publishAsStranger(
    nats.url,
    [...captured.values()].map(({ subject, data, headers: given }) => ({
      subject,
      data,
      headers: withSignature(given?.get(signatureHeader) ?? ""),
    })),
  );
  await allTaken(daybook);
  expect(await readAll()).toEqual(before);
});

test("a stranger who takes the id of a message does not keep the message from arriving", async () => {
  const api = await daybook.newProperty();
  const subject = `daybook.test.${newUuid()}`;
  const options = { servers: [nats.url], signer: testSigner, name: "test", log, registry: createRegistry() };
  const bus = owner.own(await connectNatsBus(options));
  const message = { id: newUuid(), subject, payload: Buffer.from(api.propertyId) };
  const taken: string[] = [];
  await bus.subscribe(`test-${newUuid()}`, subject, (messages) => {
    taken.push(...messages.map(({ payload }) => Buffer.from(payload).toString()));
    return Promise.resolve();
  });
  await publishAsStranger(nats.url, [{ subject, data: Buffer.from("forged"), headers: headers(), id: message.id }]);
  const [outcome] = await bus.publish([message]);
  expect(outcome).toMatchObject({ sequence: expect.any(Number) });
  await eventually(() => (taken.length > 0 ? true : undefined));
  expect(taken).toEqual([api.propertyId]);
});

test("a message whose payload was rewritten is sent again, although the server knows its id", async () => {
  const subject = `daybook.test.${newUuid()}`;
  const options = { servers: [nats.url], signer: testSigner, name: "test", log, registry: createRegistry() };
  const bus = owner.own(await connectNatsBus(options));
  const taken: string[] = [];
  await bus.subscribe(`test-${newUuid()}`, subject, (messages) => {
    taken.push(...messages.map(({ payload }) => Buffer.from(payload).toString()));
    return Promise.resolve();
  });
  const id = newUuid();
  const places = [];
  for (const text of ["with a name", "with a name", "redacted"]) {
    places.push(...(await bus.publish([{ id, subject, payload: Buffer.from(text) }])));
  }
  const [first, repeated, rewritten] = places;
  expect(repeated).toEqual(first);
  expect(rewritten).not.toEqual(first);
  await eventually(() => (taken.length > 1 ? true : undefined));
  expect(taken).toEqual(["with a name", "redacted"]);
});

test("what was signed with the previous token is taken, and nothing is signed with it any more", async () => {
  const subject = `daybook.test.${newUuid()}`;
  const connect = async (signer: Signer) =>
    owner.own(await connectNatsBus({ servers: [nats.url], signer, name: "test", log, registry: createRegistry() }));
  const taken: string[] = [];
  const after = await connect(createSigner(singleProcessToken, previousToken));
  await after.subscribe(`test-${newUuid()}`, subject, (messages) => {
    taken.push(...messages.map(({ id }) => id));
    return Promise.resolve();
  });
  const [old, fresh] = [newUuid(), newUuid()];
  const before = await connect(createSigner(previousToken));
  await before.publish([{ id: old, subject, payload: Buffer.from("old") }]);
  await eventually(() => (taken.includes(old) ? true : undefined));
  const { captured, stop } = await captureMessages(nats.url);
  await after.publish([{ id: fresh, subject, payload: Buffer.from("new") }]);
  await stop();
  const message = captured.get(subject);
  expect(message && createSigner(singleProcessToken).isSigned(message)).toBe(true);
  expect(message && createSigner(previousToken).isSigned(message)).toBe(false);
});

/** Sends what the profile service did not, signed as if it had, and waits until it was refused. */
async function claim(
  propertyId: string,
  profileId: string,
  change: NonNullable<MessageInitShape<typeof ProfileChangeSchema>["change"]>,
): Promise<void> {
  const subject = "daybook.profile.changed";
  const payload = toBinary(
    ProfilesChangedSchema,
    create(ProfilesChangedSchema, {
      messageId: newUuid(),
      propertyId,
      changedAt: toTimestamp(systemClock.nowMicros()),
      changes: [{ changeId: newUuid(), profileId, change }],
    }),
  );
  await publishAsStranger(nats.url, [{ subject, data: payload, headers: testSigner.sign(subject, payload) }]);
}

test("a signed claim that a profile has an identifier links nothing to it unless the profile service says so", async () => {
  const api = await daybook.newProperty();
  const [nobodys, anothers] = [1, 2].map(() => ({ type: "customer_id", value: newUuid() }));
  const thief = await newProfile(api);
  const record = async (identifier: object | undefined): Promise<string> =>
    (await api.post("/v1/events", { type: "page.viewed", identifier, properties: {} })).body.data.id;
  const [free, taken] = [await record(nobodys), await record(anothers)];
  const holder = await newProfile(api, { identifiers: [newEmail(), anothers ?? {}] });
  await claim(api.propertyId, thief.id, {
    case: "identified",
    value: { identifiers: [nobodys, anothers].flatMap((identifier) => identifier ?? []) },
  });
  await allTaken(daybook);
  const ownerOf = async (id: string) => (await api.get(`/v1/events/${id}`)).body.data.profile_id;
  expect([await ownerOf(taken), await ownerOf(free)]).toEqual([holder.id, null]);
});

const refusals = async (): Promise<number> =>
  (await listConsumers(nats.url)).find(({ name }) => name === "event_profiles")?.redelivered ?? 0;

test("a signed claim that a profile is redacted or merged does nothing unless the profile service says so", async () => {
  const api = await daybook.newProperty();
  const { propertyId } = api;
  const record = async (profileId: string): Promise<string> => {
    const event = { type: "page.viewed", profile_id: profileId, properties: { word: "kept" } };
    const { status, body } = await api.post("/v1/events", event);
    expect(status).toBe(201);
    return body.data.id;
  };
  const read = async (eventId: string) => (await api.get(`/v1/events/${eventId}`)).body.data;
  const [active, innocent, gone] = await Promise.all([newProfile(api), newProfile(api), newProfile(api)]);
  const [kept, spared, emptied] = [await record(active.id), await record(innocent.id), await record(gone.id)];
  await daybook.clients.profiles.redactProfile({ propertyId, profileId: gone.id }, testCall);
  await eventually(async () => ((await read(emptied)).properties.word === undefined ? true : undefined));

  const known = await refusals();
  await claim(propertyId, active.id, {
    case: "redacted",
    value: { mergedProfileIds: [innocent.id], identifiers: [], repeated: false },
  });
  await claim(propertyId, active.id, { case: "merged", value: { sourceProfileId: innocent.id } });
  await claim(propertyId, newId("prof"), { case: "redacted", value: {} });
  await eventually(async () => ((await refusals()) >= known + 3 ? true : undefined));
  // A profile that is redacted takes no other with it.
  const later = await record(innocent.id);
  await claim(propertyId, gone.id, {
    case: "redacted",
    value: { mergedProfileIds: [innocent.id], identifiers: [], repeated: false },
  });
  await eventually(async () => {
    const { body } = await api.get(`/v1/events?filter[type]=profile.redacted`);
    return body.data.length === 2 ? true : undefined;
  });
  for (const id of [kept, spared, later]) expect((await read(id)).properties).toEqual({ word: "kept" });
  expect((await api.get(active.path)).body.data.id).toBe(active.id);
  const { body } = await api.get(`/v1/events?filter[type]=profile.merged`);
  expect(body.data).toEqual([]);
});
