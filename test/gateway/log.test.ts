/** The log: whatever fails, no line holds a secret, an identifier, a property or what a query looked for. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { listenerLimits } from "../../gateway/listener/limits.ts";
import { createApi, type Answer } from "../support/api.ts";
import { newToken, randomToken, type TestToken } from "../support/apps.ts";
import { startSingleProcess, type TestDaybook, type TestProperty } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";
import { openWire } from "../support/wire.ts";

// Stands in everything that callers send and that is theirs.
const mark = "zqxmark";
const email = `${mark}@example.com`;
const marked = { type: "order.completed", identifier: { type: "email", value: email }, properties: { note: mark } };
const person = { identifiers: [{ type: "email", value: email }], attributes: { note: mark } };

const owner = new Owner();
let daybook: TestDaybook;
let api: TestProperty;
let token: TestToken;
let logFile: string;
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "daybook-log-"));
  owner.defer(() => {
    rmSync(folder, { recursive: true, force: true });
    return Promise.resolve();
  });
  logFile = join(folder, "log");
  const descriptor = openSync(logFile, "a");
  owner.defer(() => {
    closeSync(descriptor);
    return Promise.resolve();
  });
  const listener = {
    ...listenerLimits,
    connectionsMax: 100,
    headersTimeoutMs: 2_000,
    requestTimeoutMs: 20_000,
    timeoutsCheckMs: 200,
  };
  daybook = await startSingleProcess(owner, { log: createLog("test", "trace", descriptor), edge: { listener } });
  api = await daybook.newProperty();
  token = await newToken(daybook, api.propertyId, ["segments:read"]);
});
afterAll(() => owner.close());

const written = (): string => readFileSync(logFile, "utf8");

function expectNothingTold(): void {
  const lines = written().split("\n");
  expect(lines.filter((line) => line.includes(mark))).toEqual([]);
  const secrets = [api.secret, api.secret.slice(8, 24), token.token, token.token.slice(8, 24)];
  expect(lines.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
}

const codeOf = ({ body, status }: Answer): string => `${status} ${body?.error?.code ?? "fine"}`;

test("refusals of every kind tell nothing", async () => {
  const created = await api.post("/v1/profiles", person);
  const path = `/v1/profiles/${created.body.data.id}`;
  const stranger = createApi(daybook.baseUrl, `sk_test_${mark}${"x".repeat(30)}`);
  const poor = await api.withScopes(["segments:read"]);
  const limited = await daybook.newProperty({ rateLimits: { ordinary: 1 } });
  const seen = new Set<string>();
  const note = async (answer: Promise<Answer>): Promise<void> => void seen.add(codeOf(await answer));
  await note(api.post("/v1/events", marked));
  await note(api.post("/v1/events", { ...marked, value: mark }));
  await note(api.post("/v1/events", { ...marked, [mark]: mark }));
  await note(api.post("/v1/events", `{"${mark}":${mark}}`));
  await note(api.post("/v1/events", { ...marked, properties: { note: mark.repeat(100_000) } }));
  await note(api.post("/v1/events", mark.repeat(400_000)));
  await note(api.post("/v1/events", marked, { headers: { "content-type": `text/${mark}` } }));
  await note(api.post("/v1/events", marked, { headers: { "content-encoding": mark } }));
  await note(api.post("/v1/events", mark, { headers: { "content-encoding": "gzip" } }));
  await note(api.post("/v1/events", gzipSync(`{"${mark}`), { headers: { "content-encoding": "gzip" } }));
  await note(api.post("/v1/events", { ...marked, type: `sms.${mark}` }));
  await note(api.post("/v1/profiles", person));
  await note(api.post("/v1/profiles/batch", { profiles: [person, { identifiers: mark }] }));
  await note(api.patch(path, { attributes: { note: mark } }, { headers: { "if-match": '"v999"' } }));
  await note(api.patch(path, { attributes: { note: mark } }, { headers: { "if-match": mark } }));
  await note(api.delete(`${path}/identifiers/${created.body.data.identifier_ids[0]}`));
  await note(api.post(`${path}/merge`, { source_profile_id: created.body.data.id }));
  await note(api.get(`/v1/profiles?filter[email]=${email}&${mark}=${mark}`));
  await note(api.get(`/v1/profiles?filter[phone]=${mark}`));
  await note(api.get(`/v1/profiles?page[after]=cur_${mark}`));
  await note(api.get(`/v1/profiles/${mark}`));
  await note(api.get(`/v1/${mark}?email=${email}`));
  await note(api.get(`/v1/${mark}/%ff?email=${email}`));
  await note(api.request("PROPFIND", `/v1/events?email=${email}`));
  await note(api.get("/v1/account", { headers: { "service-version": mark, "x-request-id": mark, cookie: mark } }));
  await note(stranger.post("/v1/events", marked));
  await note(poor.post("/v1/events", marked));
  await note(token.post("/v1/events", marked));
  await note(createApi(daybook.baseUrl, `${token.token}A`).post("/v1/events", marked));
  await note(createApi(daybook.baseUrl, randomToken().replace(/^.{7}/, mark)).post("/v1/events", marked));
  await note(limited.post("/v1/events", marked));
  await eventually(async () => {
    await note(limited.post("/v1/events", marked));
    return seen.has("429 rate_limited") ? true : undefined;
  });
  expect([...seen].toSorted()).toEqual([
    "200 fine",
    "201 fine",
    "400 bad_request",
    "400 invalid_cursor",
    "400 invalid_id",
    "400 invalid_json",
    "400 invalid_revision",
    "400 parameter_invalid",
    "400 parameter_unknown",
    "400 reserved_event_type",
    "401 invalid_api_key",
    "403 missing_scope",
    "404 resource_not_found",
    "405 method_not_allowed",
    "409 identity_conflict",
    "412 precondition_failed",
    "413 request_too_large",
    "415 unsupported_media_type",
    "422 invalid_state_transition",
    "422 last_identifier",
    "429 rate_limited",
  ]);
  expectNothingTold();
});

test.each([
  ["what is no HTTP", `${mark}\r\n\r\n`, 400],
  ["headers that are too large", `GET /v1/x?${mark} HTTP/1.1\r\nX: ${mark.repeat(5000)}\r\n\r\n`, 431],
  ["headers that never end", `GET /v1/x?${mark} HTTP/1.1\r\nX: ${mark}\r\n`, 408],
])("%s tells nothing", async (_name, text, status) => {
  const wire = await openWire(daybook.baseUrl);
  wire.write(text);
  expect((await wire.answers(1))[0]?.status).toBe(status);
  wire.end();
  expectNothingTold();
});

test("a client that goes in the middle of its body tells nothing", async () => {
  const wire = await openWire(daybook.baseUrl);
  wire.write(
    `POST /v1/events?email=${email} HTTP/1.1\r\nAuthorization: Bearer ${api.secret}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"${mark}`,
  );
  wire.end();
  expect((await api.get("/v1/account")).status).toBe(200);
  expectNothingTold();
});

test("failures of the database are written, and tell nothing", async () => {
  const client = new pg.Client({ connectionString: daybook.databaseUrl });
  await client.connect();
  owner.defer(() => client.end());
  const before = written().length;
  // Somebody new each time, so that something is written.
  let count = 0;
  const anyone = () => ({
    identifiers: [{ type: "external_id", value: `${mark}${++count}` }],
    attributes: { note: mark },
  });
  const calls: (() => Promise<Answer>)[] = [
    () => api.post("/v1/events", { ...marked, dedupe_id: `${mark}${++count}` }),
    () => api.post("/v1/events/batch", { events: [marked, marked] }),
    () => api.post("/v1/profiles", anyone()),
    () => api.post("/v1/profiles/upsert", anyone()),
    () => api.post("/v1/profiles/batch", { profiles: [{ ...anyone(), idempotency_key: `${mark}${++count}` }] }),
    () => api.get(`/v1/profiles?filter[email]=${email}`),
    () => api.get(`/v1/events?filter[type]=order.${mark}`),
    () => api.post("/v1/metrics", { name: `order.${mark}${++count}`, description: mark }),
    () =>
      api.post("/v1/metric-aggregates", {
        metric: "order.completed",
        from: "2026-01-01T00:00:00Z",
        to: "2027-01-01T00:00:00Z",
        filter: { "properties.note": mark },
      }),
  ];
  // One after the other: a table that is gone, and one that refuses rows.
  for (const table of ["event.events", "profile.profiles", "profile.identifiers", "metric.metrics"]) {
    const [schema, name] = table.split(".");
    await client.query(`ALTER TABLE ${table} RENAME TO ${name}_away`);
    const statuses = await Promise.all(calls.map(async (call) => (await call()).status));
    await client.query(`ALTER TABLE ${schema}.${name}_away RENAME TO ${name}`);
    expect([table, statuses.includes(500)]).toEqual([table, true]);
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT never CHECK (false) NOT VALID`);
    const refused = await Promise.all(calls.map(async (call) => (await call()).text));
    // Of a batch each item.
    expect([table, refused.some((text) => text.includes("internal_error"))]).toEqual([table, true]);
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT never`);
  }
  expect(written().slice(before)).toContain('"level":50');
  expectNothingTold();
});
