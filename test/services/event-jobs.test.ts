/**
 * Jobs of events: each event is recorded once for the profile that came with it, whatever comes again and whatever is
 * killed meanwhile.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import pg from "pg";
import { afterAll, expect, inject, test } from "vitest";
import type { Event, EventInputSchema, EventJobItemSchema } from "#proto/daybook/event/v1/event_pb.ts";
import { systemClock } from "#shared/values/clock.ts";
import { decodeId, newId, newUuid, type Uuid } from "#shared/values/ids.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { openDatabase } from "#shared/database/postgres.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { formatMicros, fromTimestamp } from "#shared/values/time.ts";
import { forgetJobs } from "#shared/jobs/jobs.ts";
import { eventJobs } from "../../services/event/jobs.ts";
import { countOf } from "../support/counting.ts";
import { createDatabase } from "../support/database.ts";
import {
  connectTo,
  describeEverywhere,
  describeOnce,
  startSingleProcess,
  testCall,
  type TestDaybook,
} from "../support/daybook.ts";
import { startKillableMesh } from "../support/mesh.ts";
import { repeatMessages, startNats } from "../support/nats.ts";
import { newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";
import { random } from "../support/random.ts";

type Item = MessageInitShape<typeof EventJobItemSchema>;
type Input = MessageInitShape<typeof EventInputSchema>;

const type = "order.placed";
const eventOf = (index: number, fields: Input = {}): Input => ({
  type,
  propertiesJson: JSON.stringify({ index }),
  source: "test",
  ...fields,
});
const itemOf = (index: number, name: string, fields: Input = {}): Item => ({
  event: eventOf(index, fields),
  profile: {
    identifiers: [{ type: "external_id", value: name }],
    attributesJson: `{"last":${index}}`,
    source: "test",
  },
});

async function begin(daybook: TestDaybook, propertyId: string, items: Item[], jobId = newId("job")): Promise<string> {
  await daybook.clients.events.createEventJob({ propertyId, jobId, items }, testCall);
  return jobId;
}

async function query(daybook: TestDaybook, text: string, values: unknown[]): Promise<object[]> {
  const client = new pg.Client({ connectionString: daybook.databaseUrl });
  await client.connect();
  try {
    return (await client.query<object>(text, values)).rows;
  } finally {
    await client.end();
  }
}

function finished(daybook: TestDaybook, jobId: string, timeoutMs = 60_000): Promise<true> {
  const text = "SELECT FROM event.jobs WHERE id = $1 AND completed_at IS NOT NULL";
  return eventually(
    async () => ((await query(daybook, text, [decodeId("job", jobId, "")])).length > 0 ? true : undefined),
    { timeoutMs, explain: () => "the job is not complete" },
  );
}

async function eventsOf(daybook: TestDaybook, propertyId: string): Promise<Event[]> {
  const all: Event[] = [];
  for (let hasMore = true; hasMore;) {
    const last = all.at(-1);
    const after = last?.occurredAt ? { after: { time: last.occurredAt, eventId: last.id } } : {};
    const request = { propertyId, type, ascending: true, limit: 1000, ...after };
    const page = await daybook.clients.events.listEvents(request, testCall);
    all.push(...page.events);
    ({ hasMore } = page);
  }
  return all;
}

const indexesOf = (events: readonly Event[]): number[] =>
  events.map(({ propertiesJson }) => (JSON.parse(propertiesJson) as { index: number }).index).toSorted((a, b) => a - b);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describeEverywhere("jobs of events", (daybook) => {
  test("write profiles and record their events, once however often they are asked for", async () => {
    const api = await daybook().newProperty();
    const { propertyId } = api;
    const known = await newProfile(api);
    const items: Item[] = [
      ...upTo(450).map((index) => itemOf(index, `p${Math.floor(index / 5)}`)),
      { event: eventOf(450, { profile: { reference: { case: "profileId", value: known.id } } }) },
      itemOf(451, "p0", { metricName: "Placed Order", uniqueId: "1" }),
      itemOf(452, "p0", { metricName: "Placed Order", uniqueId: "1" }),
      itemOf(453, "p1", { type: "Bad Type" }),
      itemOf(454, "\0"),
      { event: eventOf(455) },
    ];
    const before = systemClock.nowMicros();
    const jobId = await begin(daybook(), propertyId, items);
    const answered = systemClock.nowMicros();
    await Promise.all([begin(daybook(), propertyId, items, jobId), begin(daybook(), propertyId, items, jobId)]);
    await finished(daybook(), jobId);
    const events = await eventsOf(daybook(), propertyId);
    expect(indexesOf(events)).toEqual(upTo(452));
    for (const { occurredAt } of events) {
      // When the job was made, as none says otherwise.
      expect(fromTimestamp(occurredAt ?? (undefined as never))).toBeGreaterThanOrEqual(before - 1000);
      expect(fromTimestamp(occurredAt ?? (undefined as never))).toBeLessThanOrEqual(answered + 1000);
    }
    const { profiles } = await daybook().clients.profiles.listProfiles({ propertyId, limit: 500 }, testCall);
    expect(profiles).toHaveLength(91);
    const byOwner = Map.groupBy(events, ({ profileId }) => profileId);
    for (const { id, identifiers, attributesJson } of profiles) {
      const [identifier] = identifiers;
      if (id === known.id || !identifier) continue;
      const first = Number(identifier.value.slice(1)) * 5;
      const theirs = identifier.value === "p0" ? [0, 1, 2, 3, 4, 451] : [0, 1, 2, 3, 4].map((index) => first + index);
      expect(indexesOf(byOwner.get(id) ?? [])).toEqual(theirs);
      const last =
        new Map([
          ["p0", 452],
          ["p1", 453],
        ]).get(identifier.value) ?? first + 4;
      expect(attributesJson).toBe(`{"last":${last}}`);
    }
    expect(indexesOf(byOwner.get(known.id) ?? [])).toEqual([450]);
    await eventually(async () => ((await countOf(daybook(), propertyId, type)) === 452 ? true : undefined));
    const held = "SELECT FROM event.job_chunks WHERE job_id = $1 AND payload IS NOT NULL";
    expect(await query(daybook(), held, [decodeId("job", jobId, "")])).toEqual([]);
  });

  test("are limited", async () => {
    const { propertyId } = await daybook().newProperty();
    const refused = (items: Item[]) => begin(daybook(), propertyId, items).catch((error: unknown) => error);
    expect(await refused(upTo(1001).map((index) => itemOf(index, "p")))).toMatchObject({ code: "too_many_items" });
    expect(await refused([])).toMatchObject({ code: "parameter_missing" });
    expect(await refused([{}])).toMatchObject({ code: "parameter_missing", param: "items.0.event" });
    const large = { propertiesJson: JSON.stringify({ text: "x".repeat(200_000) }) };
    expect(await refused(upTo(79).map((index) => itemOf(index, "p", large)))).toMatchObject({
      code: "request_too_large",
    });
    const insert = `INSERT INTO event.jobs (property_id, id, total_count, created_at)
      SELECT $1, gen_random_uuid(), 1, now() FROM generate_series(1, 1000)`;
    await query(daybook(), insert, [decodeId("prop", propertyId, "")]);
    expect(await refused([itemOf(1, "p")])).toMatchObject({ code: "rate_limited", retryAfterMs: 10_000 });
  });

  test("are forgotten after 7 days", async () => {
    const { propertyId } = await daybook().newProperty();
    const [old, young] = [
      await begin(daybook(), propertyId, [itemOf(1, "p")]),
      await begin(daybook(), propertyId, [itemOf(2, "p")]),
    ];
    for (const id of [old, young]) await finished(daybook(), id);
    const ids = [old, young].map((id) => decodeId("job", id, ""));
    await query(daybook(), "UPDATE event.jobs SET created_at = now() - interval '8 days' WHERE id = $1", [ids[0]]);
    const log = createLog("test", "silent");
    const database = openDatabase({ url: daybook().databaseUrl, applicationName: "test", connectionsMax: 1, log });
    await forgetJobs({ database, clock: systemClock }, eventJobs, new AbortController().signal);
    await database.end();
    expect(await query(daybook(), "SELECT id FROM event.jobs WHERE id = ANY($1)", [ids])).toEqual([{ id: ids[1] }]);
    const chunks = "SELECT job_id FROM event.job_chunks WHERE job_id = ANY($1)";
    expect(await query(daybook(), chunks, [ids])).toEqual([{ job_id: ids[1] }]);
  });
});

describeOnce("jobs that are deleted while their chunks are finished", (daybook) => {
  test("wait for each other, and leave no chunk without its job", async () => {
    const property = decodeId("prop", (await daybook().newProperty()).propertyId, "");
    const ids = upTo(100).map(newUuid);
    const old =
      "INSERT INTO event.jobs (property_id, id, total_count, created_at) SELECT $1, unnest($2::uuid[]), 1, $3";
    const created = formatMicros(systemClock.nowMicros() - 2 * eventJobs.retentionMicros);
    await query(daybook(), old, [property, ids, created]);
    const chunks =
      "INSERT INTO event.job_chunks (property_id, job_id, chunk, payload) SELECT $1, unnest($2::uuid[]), 0, ''";
    await query(daybook(), chunks, [property, ids]);
    const log = createLog("test", "silent");
    const database = openDatabase({ url: daybook().databaseUrl, applicationName: "test", connectionsMax: 8, log });
    const now = formatMicros(systemClock.nowMicros());
    const finish = (id: Uuid) => eventJobs.statements.finishChunk(database, [property, id, 0, 1, 0, now]);
    const forget = () => forgetJobs({ database, clock: systemClock }, eventJobs, AbortSignal.timeout(60_000));
    try {
      await Promise.all(ids.toReversed().flatMap((id, index) => [finish(id), ...(index % 4 === 1 ? [forget()] : [])]));
      await forget();
    } finally {
      await database.end();
    }
    const left = "SELECT job_id FROM event.job_chunks WHERE property_id = $1";
    expect(await query(daybook(), left, [property])).toEqual([]);
  });
});

const owner = new Owner();
afterAll(() => owner.close());

test("what was refused is counted by its code", async () => {
  const registry = createRegistry();
  const daybook = await startSingleProcess(owner, { registry, log: createLog("test", "silent") });
  const { propertyId } = await daybook.newProperty();
  const items = [itemOf(0, "p"), itemOf(1, "p", { type: "Bad Type" }), itemOf(2, "p", { type: "" }), itemOf(3, "\0")];
  await finished(daybook, await begin(daybook, propertyId, items));
  const counts = await eventually(async () => {
    const metric = await registry.getSingleMetric("daybook_event_job_items_refused_total")?.get();
    return metric && metric.values.length > 0 ? metric.values : undefined;
  });
  expect(Object.fromEntries(counts.map(({ labels, value }) => [labels["code"], value]))).toEqual({
    invalid_event_type: 2,
    parameter_invalid: 1,
  });
});

test("each event is there once while messages come again and services are killed", { timeout: 180_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-event-jobs-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const { url: natsUrl } = owner.own(await startNats(folder));
  const { url: databaseUrl } = owner.own(await createDatabase(inject("databaseUrl")));
  const mesh = await startKillableMesh({ databaseUrl, natsUrl }, owner);
  const daybook = connectTo(mesh.addresses);
  const { propertyId } = await daybook.newProperty();
  const stopRepeating = await repeatMessages(natsUrl, "daybook.event.job_due", 4);
  const jobs: string[] = [];
  for (let job = 0; job < 4; job++) {
    const items = upTo(1000).map((index) => itemOf(job * 1000 + index, `p${index % 300}`));
    jobs.push(await begin(daybook, propertyId, items));
  }
  for (const name of ["event", "profile", "event", "profile"] as const) {
    await sleep(random(400));
    await mesh.restart(name);
  }
  for (const jobId of jobs) await finished(daybook, jobId, 120_000);
  await stopRepeating();
  const events = await eventsOf(daybook, propertyId);
  expect(indexesOf(events)).toEqual(upTo(4000));
  expect(new Set(events.map(({ profileId }) => profileId)).size).toBe(300);
  await eventually(async () => ((await countOf(daybook, propertyId, type)) === 4000 ? true : undefined));
});
