/**
 * After an erasure nothing of the person is left: in no column of the database, on no subject of NATS, and in no log.
 * What is counted stays as it was. The person is everywhere before: see `appear`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { CreateEventJobRequestSchema, EventJobStatus } from "#proto/daybook/event/v1/event_pb.ts";
import { PrivacyRequestStatus as Status, PrivacyRequestType as Type } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { CreateImportJobRequestSchema, ImportJobStatus } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { decodeId, newId, newUuid } from "#shared/values/ids.ts";
import type { RequestOptions } from "../support/api.ts";
import { createDatabase } from "../support/database.ts";
import { connectTo, testCall, type TestDaybook, type TestProperty } from "../support/daybook.ts";
import { startKillableMesh, type KillableMesh } from "../support/mesh.ts";
import { readKept, startNats, type NatsServer } from "../support/nats.ts";
import { newProfile } from "../support/people.ts";
import { untilEnded } from "../support/privacy.ts";
import { eventually } from "../support/processes.ts";
import { aggregated } from "../support/recount.ts";

const owner = new Owner();
let nats: NatsServer;
let mesh: KillableMesh;
let daybook: TestDaybook;
let database: pg.Client;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-erasure-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  nats = owner.own(await startNats(folder));
  const { url: databaseUrl } = owner.own(await createDatabase(inject("databaseUrl")));
  mesh = await startKillableMesh({ databaseUrl, natsUrl: nats.url, env: { REDACTION_SWEEP_SECONDS: "1" } }, owner);
  daybook = connectTo(mesh.addresses);
  database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  owner.defer(() => database.end());
});
afterAll(() => owner.close());

// Every value of the person has the word or the digits.
const word = "lovelace1815";
const digits = "910018151852";
const email = { type: "email", value: `${word}@example.com` };
const phone = { type: "phone", value: `+351${digits}` };
const card = { type: "card", value: `${word}-card` };
const cookie = { type: "cookie", value: `${word}-cookie` };
const typed = (type: string, extra: object = {}) => ({ type, properties: { note: `${word} ${digits}` }, ...extra });

/** Everything that has the word or the digits, by its column. */
async function findTraces(): Promise<string[]> {
  const { rows: columns } = await database.query<{ name: string; column: string; type: string }>(
    `SELECT format('%I.%I', c.table_schema, c.table_name) AS name, quote_ident(c.column_name) AS column, c.data_type AS type
     FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema NOT IN ('pg_catalog', 'information_schema') AND t.table_type = 'BASE TABLE'
       AND c.data_type IN ('text', 'character varying', 'character', 'json', 'jsonb', 'bytea', 'ARRAY', 'xml')`,
  );
  expect(columns.length).toBeGreaterThan(100);
  const found: string[] = [];
  for (const { name, column, type } of columns) {
    const text = type === "bytea" ? `encode(${column}, 'escape')` : `${column}::text`;
    const { rows } = await database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${name} WHERE lower(${text}) LIKE $1 OR regexp_replace(${text}, '[^0-9]', '', 'g') LIKE $2`,
      [`%${word}%`, `%${digits}%`],
    );
    if (rows[0]?.count) found.push(`${name}.${column}`);
  }
  const kept = (await readKept(nats.url)).filter(
    ({ text }) => text.toLowerCase().includes(word) || text.includes(digits),
  );
  found.push(...kept.map(({ subject }) => `nats ${subject}`));
  const log = mesh.output().toLowerCase();
  if (log.includes(word) || log.includes(digits)) found.push("log");
  return found.toSorted();
}

/** Writes what is known of the person wherever Daybook keeps something. */
async function appear(api: TestProperty): Promise<{ profileId: string }> {
  const { propertyId } = api;
  const person = await newProfile(api, {
    identifiers: [email, phone],
    attributes: { name: word, [`likes_${word}`]: [digits] },
    location: { city: word },
  });
  const { id: profileId } = person;
  const other = await newProfile(api, { identifiers: [card], attributes: { nick: word } });
  const idempotent = (): RequestOptions => ({ headers: { "idempotency-key": newUuid() } });
  await api.post("/v1/events", typed("erasure.bought", { profile_id: other.id, value: "4.50", currency: "EUR" }));
  await daybook.clients.profiles.mergeProfiles({ propertyId, profileId, sourceProfileId: other.id }, testCall);
  await daybook.clients.profiles.updateTags({ propertyId, profileId, add: [word] }, testCall);
  const events = [
    typed("erasure.bought", { identifier: email, value: "10.25", currency: "EUR", dedupe_id: `${word}-1` }),
    typed("erasure.bought", { identifier: phone }),
    typed("erasure.seen", { identifier: cookie, dedupe_id: `${word}-4`, value: "1", currency: "EUR" }),
    typed("erasure.seen", { identifier: cookie }),
  ];
  for (const event of events) {
    const { status, text } = await api.post("/v1/events", event, idempotent());
    expect([status, text]).toEqual([201, text]);
  }
  // One item of each batch is refused.
  const refused = { ...typed("erasure.seen", { identifier: cookie }), currency: `+351 ${digits}` };
  const batch = { events: [refused, typed("erasure.seen", { identifier: cookie })] };
  expect((await api.post("/v1/events/batch", batch, idempotent())).body.data.counts).toMatchObject({ failed: 1 });
  await api.post("/v1/events/batch", { events: [refused] }, idempotent());
  await api.post("/v1/events", refused, idempotent());
  await api.post("/v1/profiles", { identifiers: [email], attributes: { name: word } }, idempotent());
  // Gateways tell of refusals a second later.
  await eventually(async () => (await api.get("/v1/rejected-writes")).body.data.length >= 3 || undefined);

  const item = { event: { type: "erasure.bought", propertiesJson: `{"note":"${word}"}`, source: "api" } };
  const owned = (identifier: object) => ({
    ...item,
    event: { ...item.event, profile: { reference: { case: "identifier", value: identifier } } },
  });
  const eventItems = [
    owned(email),
    owned(cookie),
    { event: { ...owned(email).event, type: `${card.value} ?` } },
  ] as never;
  const jobId = newId("job");
  await daybook.clients.events.createEventJob({ propertyId, jobId, items: eventItems }, testCall);
  const upsert = (attributesJson: string) => ({
    write: {
      case: "upsert",
      value: { identifiers: [{ ...email, value: email.value.toUpperCase() }], attributesJson, source: "import" },
    },
    originalJson: JSON.stringify({
      email: email.value.toUpperCase(),
      phone: `+351 ${digits.slice(0, 3)}-${digits.slice(3)}`,
      name: word,
    }),
  });
  const importItems = [upsert(`{"city":"${word}"}`), upsert(`["${word}"]`)] as never;
  const imported = await daybook.clients.profiles.createImportJob(
    { propertyId, jobId: newId("job"), items: importItems },
    testCall,
  );
  await eventually(async () => {
    const one = await daybook.clients.events.getEventJob({ propertyId, jobId }, testCall);
    const two = await daybook.clients.profiles.getImportJob({ propertyId, jobId: imported.job?.id ?? "" }, testCall);
    return (one.job?.status === EventJobStatus.COMPLETE && two.job?.status === ImportJobStatus.COMPLETE) || undefined;
  });
  // Jobs whose turn has not come.
  const property = decodeId("prop", propertyId, "property_id");
  const waiting = [
    [
      "event.jobs",
      "event.job_chunks",
      toBinary(CreateEventJobRequestSchema, create(CreateEventJobRequestSchema, { items: eventItems })),
    ],
    [
      "profile.import_jobs",
      "profile.import_chunks",
      toBinary(CreateImportJobRequestSchema, create(CreateImportJobRequestSchema, { items: importItems })),
    ],
  ] as const;
  for (const [jobs, chunks, payload] of waiting) {
    const id = newUuid();
    await database.query(`INSERT INTO ${jobs} (property_id, id, total_count, created_at) VALUES ($1, $2, 3, now())`, [
      property,
      id,
    ]);
    await database.query(`INSERT INTO ${chunks} (property_id, job_id, chunk, payload) VALUES ($1, $2, 0, $3)`, [
      property,
      id,
      payload,
    ]);
  }
  return { profileId };
}

test("after an erasure no column, message or log has anything of the person, and all counts are as before", async () => {
  const api = await daybook.newProperty();
  const { propertyId } = api;
  const { clients } = daybook;
  const { profileId } = await appear(api);
  const bystander = await newProfile(api, { identifiers: [{ type: "email", value: "charles@example.com" }] });
  await api.post("/v1/events", {
    type: "erasure.bought",
    profile_id: bystander.id,
    properties: { kept: true },
    value: "2",
    currency: "EUR",
  });
  const identifiers = [email, cookie];
  const access = await clients.privacy.createPrivacyRequest(
    { propertyId, type: Type.ACCESS, identifiers, createdBy: "test" },
    testCall,
  );
  const opened = await untilEnded(daybook, propertyId, access.request?.id ?? "");
  expect(opened).toMatchObject({
    status: Status.COMPLETED,
    counts: { profiles: 2n, identifiers: 3n, anonymousEvents: 4n },
  });
  const day = 86_400_000;
  const range = { from: new Date(Date.now() - day).toISOString(), to: new Date(Date.now() + day).toISOString() };
  const count = async () =>
    Promise.all(
      ["erasure.bought", "erasure.seen", "profile.created"].map(async (metric) => {
        const measurements =
          metric === "profile.created" ? ["count", "unique_profiles"] : ["count", "sum_value", "unique_profiles"];
        return (await aggregated(api, { metric, measurements, ...range })).body.data.series;
      }),
    );
  const before = await count();
  expect(opened.counts?.rejectedWrites).toBeGreaterThan(0n);
  expect((await findTraces()).length).toBeGreaterThan(10);

  const reference = "dsar-1";
  const asked = await api.post("/v1/privacy-requests", { type: "erasure", identifiers, reference, suppress: true });
  expect(asked.status).toBe(202);
  const erased = await untilEnded(daybook, propertyId, asked.body.data.id);
  const { profiles, identifiers: known, events, anonymousEvents } = opened.counts ?? {};
  const expected = { profiles, identifiers: known, events, anonymousEvents };
  expect(erased).toMatchObject({ status: Status.COMPLETED, counts: expected });
  expect(erased.profileIds).toContain(profileId);

  let traces: string[] = [];
  await eventually(async () => ((traces = await findTraces()).length === 0 ? true : undefined), {
    timeoutMs: 30_000,
    explain: () => `the person is in ${traces.join(", ")}`,
  });
  expect(await count()).toEqual(before);
  const { body } = await api.get(`/v1/profiles/${bystander.id}?expand=identifiers`);
  expect(body.data.identifiers[0].value).toBe("charles@example.com");
});
