/**
 * A redaction reaches what is on its way: on the NATS stream, and among the dead letters. Nothing is lost by it, and
 * nothing counted twice.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { connectNatsBus } from "#shared/bus/nats/bus.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { startSingleProcess, testCall, testSigner, type SingleProcess } from "../support/daybook.ts";
import { readKept, startNats, type NatsServer } from "../support/nats.ts";
import { newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";

const log = createLog("test", "silent");
const owner = new Owner();
let nats: NatsServer;
let daybook: SingleProcess;
let database: pg.Client;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-redaction-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  nats = owner.own(await startNats(folder));
  daybook = await startSingleProcess(owner, { nats: { servers: [nats.url] }, log });
  database = new pg.Client({ connectionString: daybook.databaseUrl });
  await database.connect();
  owner.defer(() => database.end());
});
afterAll(() => owner.close());

test("messages that nobody has taken and dead letters say nothing of the person any more, and are still there", async () => {
  const word = "lovelace1815";
  const api = await daybook.newProperty();
  // Fails whatever comes, so that each message becomes a dead letter at once.
  const frail = owner.own(
    await connectNatsBus({
      servers: [nats.url],
      signer: testSigner,
      name: "frail",
      redelivery: { failuresMax: 1, redeliverDelayMsMin: 1 },
      log,
      registry: createRegistry(),
    }),
  );
  for (const subject of ["daybook.event.recorded", "daybook.profile.changed"]) {
    const consumer = `frail-${subject.replaceAll(".", "-")}`;
    await frail.subscribe(consumer, subject, () => Promise.reject(new Error("it fails")));
  }
  const traces = async () => (await readKept(nats.url)).filter(({ text }) => text.includes(word));

  // Nobody counts meanwhile, so that what tells of the events stays on the stream.
  await database.query("BEGIN; LOCK TABLE metric.operations IN SHARE ROW EXCLUSIVE MODE");
  const person = await newProfile(api, { identifiers: [{ type: "customer", value: word }] });
  const events = Array.from({ length: 3 }, (_, index) => ({
    type: "a.b",
    profile_id: person.id,
    properties: { name: word },
    dedupe_id: `${word}-${index}`,
  }));
  expect((await api.post("/v1/events/batch", { events })).body.data.counts.succeeded).toBe(3);
  await eventually(async () => {
    const subjects = new Set((await traces()).map(({ subject }) => subject));
    const isThere = (subject: string): boolean => subjects.has(subject);
    const isAll =
      isThere("daybook.event.recorded") &&
      isThere("daybook.dead.frail-daybook-event-recorded") &&
      isThere("daybook.dead.frail-daybook-profile-changed");
    return isAll ? true : undefined;
  });
  const lettersBefore = (await frail.describe()).deadLetterCounts.get("frail-daybook-event-recorded") ?? 0;

  await daybook.clients.profiles.redactProfile({ propertyId: api.propertyId, profileId: person.id }, testCall);
  // The message that tells of the redaction knows the identifier, until it is taken; here it dies too.
  const isOfRedaction = ({ subject }: { subject: string }): boolean => subject.endsWith("profile-changed");
  await eventually(async () => ((await traces()).some((one) => !isOfRedaction(one)) ? undefined : true), {
    explain: () => "something of the person is on the stream",
    timeoutMs: 60_000,
  });
  await database.query("ROLLBACK");

  // Each event is counted once, by the message in the place of the first.
  const countOf = async (): Promise<number> => {
    const { metrics } = await daybook.clients.metrics.getMetrics(
      { propertyId: api.propertyId, names: ["a.b"] },
      testCall,
    );
    return Number(metrics[0]?.eventCount ?? 0);
  };
  await eventually(async () => ((await countOf()) === 3 ? true : undefined), { timeoutMs: 60_000 });
  const letters = await readKept(nats.url);
  const dead = letters.filter(({ subject }) => subject === "daybook.dead.frail-daybook-event-recorded");
  expect(dead.length).toBeGreaterThanOrEqual(lettersBefore);
  expect(await countOf()).toBe(3);
});
