/** A Daybook on tables that are spread by property: it does its work, and asks nothing that no test of SQL knows. */
import { loadModule } from "libpg-query";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { ImportJobStatus } from "#proto/daybook/profile/v1/profile_pb.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { newId } from "#shared/values/ids.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { allTaken, countOf } from "../support/counting.ts";
import { createDatabase } from "../support/database.ts";
import { startSingleProcess, testCall, type SingleProcess } from "../support/daybook.ts";
import { faultsOf, readCatalog, type Catalog } from "../support/dialect.ts";
import { newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";
import { rebuilt } from "../support/recount.ts";
import { openSpread } from "../support/spread.ts";
import { allStatements, manyProperties, oneServerOnly } from "../support/statements.ts";

const owner = new Owner();
const asked = new Set<string>();
let daybook: SingleProcess;
let catalog: Catalog;

beforeAll(async () => {
  await loadModule();
  const { url } = owner.own(await createDatabase(inject("databaseUrl")));
  const { client, tables } = await openSpread(url, owner);
  catalog = await readCatalog(client, tables);
  noteQueries(new URL(url).pathname.slice(1));
  daybook = await startSingleProcess(owner, { databaseUrl: url, registry: createRegistry() });
});
afterAll(() => owner.close());

/** Notes all that the services ask of a database, as the driver sends it. */
function noteQueries(database: string): void {
  // oxlint-disable-next-line typescript/unbound-method -- it is called on the client that noting is called on
  const { query } = pg.Client.prototype;
  function noting(this: pg.Client & { database?: string }, ...parameters: unknown[]): unknown {
    const [first] = parameters as [string | { text?: string } | undefined];
    const text = typeof first === "string" ? first : first?.text;
    if (this.database === database && text !== undefined) asked.add(text);
    return Reflect.apply(query, this, parameters);
  }
  pg.Client.prototype.query = noting as typeof query;
  owner.defer(() => {
    pg.Client.prototype.query = query;
    return Promise.resolve();
  });
}

test("records, counts, merges and links, each for its property", async () => {
  const apis = await Promise.all(Array.from({ length: 6 }, () => daybook.newProperty()));
  await Promise.all(
    apis.map(async (api, index) => {
      const [one, other] = [await newProfile(api), await newProfile(api)];
      const event = { type: "order.completed", properties: { a: 1 }, value: "1.50", currency: "EUR" };
      const record = (whose: object) => api.post("/v1/events", { ...event, ...whose });
      expect((await record({ profile_id: one.id, dedupe_id: "a" })).status).toBe(201);
      expect((await record({ profile_id: one.id, dedupe_id: "a" })).status).toBe(200);
      const underKey = { ...event, type: "cart.saved", profile_id: one.id, dedupe_id: "b" };
      const headers = { "idempotency-key": "k" };
      expect((await api.post("/v1/events", underKey, { headers })).status).toBe(201);
      expect((await api.post("/v1/events", underKey, { headers })).headers.get("idempotency-replayed")).toBe("true");
      expect((await record({ identifier: { type: "card", value: "1" } })).status).toBe(201);
      const events = Array.from({ length: 10 * (index + 1) }, () => ({ ...event, profile_id: other.id }));
      expect((await api.post("/v1/events/batch", { events })).status).toBe(200);
      expect((await api.post(`${one.path}/merge`, { source_profile_id: other.id })).status).toBe(200);
      expect((await api.post(`${one.path}/identifiers`, { type: "card", value: "1" })).status).toBe(201);
    }),
  );
  await allTaken(daybook);
  for (const [index, api] of apis.entries()) {
    expect(await countOf(daybook, api.propertyId, "order.completed")).toBe(10 * (index + 1) + 2);
    const range = { from: "2026-01-01T00:00:00Z", to: new Date().toISOString() };
    const aggregate = { metric: "order.completed", measurements: ["count", "unique_profiles"], ...range };
    const { text } = await api.post("/v1/metric-aggregates", aggregate);
    expect(text).toContain('"unique_profiles":[1]');
  }
});

test("imports profiles, counts anew, and redacts", async () => {
  const api = await daybook.newProperty();
  const { propertyId } = api;
  const jobId = newId("job");
  const items = Array.from({ length: 450 }, (_, index) => ({
    write: {
      case: "upsert" as const,
      value: { source: "import", identifiers: [{ type: "email", value: `${index}@example.com` }] },
    },
    originalJson: "{}",
  }));
  await daybook.clients.profiles.createImportJob({ propertyId, jobId, items }, testCall);
  const job = await eventually(async () => {
    const found = await daybook.clients.profiles.getImportJob({ propertyId, jobId }, testCall);
    return found.job?.status === ImportJobStatus.COMPLETE ? found.job : undefined;
  });
  expect(job).toMatchObject({ completedCount: 450, failedCount: 0 });
  await daybook.clients.metrics.rebuildRollups({}, testCall);
  await rebuilt(daybook);
  const { body } = await api.get("/v1/profiles");
  const profileId = body.data[0].id as string;
  await daybook.clients.profiles.redactProfile({ propertyId, profileId }, testCall);
  expect((await api.get(`/v1/profiles/${profileId}`)).body.data).toMatchObject({ status: "redacted" });
});

test("asks for many properties only what is on the list, and keeps to the dialect", async () => {
  expect(asked.size).toBeGreaterThan(100);
  const statements = await allStatements();
  const textsOf = (names: readonly string[]): (string | undefined)[] => names.map((name) => statements.get(name));
  const ofMany = new Set(textsOf(Object.values(manyProperties).flat()));
  const faults = [...asked].flatMap((text) => {
    const { constructs, unscoped } = faultsOf(text, catalog);
    return [...constructs, ...(ofMany.has(text) ? [] : unscoped)].map((fault) => ({ text, fault }));
  });
  expect(faults).toEqual([]);
  expect(textsOf(oneServerOnly).filter((text) => text === undefined || asked.has(text))).toEqual([]);
});
