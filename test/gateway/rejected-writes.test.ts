/** Refused writes are found by their request, with the field, the key and the body; and nobody else's are. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorCatalogue } from "#shared/values/errors.ts";
import { newId } from "#shared/values/ids.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { createRegistry, serveRpc } from "#shared/rpc/server.ts";
import { createGateway } from "../../gateway/app.ts";
import { createClients } from "../../gateway/clients.ts";
import { connectServices } from "../../gateway/config.ts";
import { createApi, type Answer, type Api } from "../support/api.ts";
import { installApp } from "../support/apps.ts";
import {
  describeEverywhere,
  singleProcessToken,
  startSingleProcess,
  testCall,
  type SingleProcess,
} from "../support/daybook.ts";
import { newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";
import { findRejected } from "../support/rejected-writes.ts";

const vendor = { "content-type": "application/vnd.api+json" };
const ada = { type: "email", value: "ada@example.com" };
const compatEvent = (name: unknown) => ({
  data: {
    type: "event",
    attributes: {
      properties: {},
      metric: { data: { type: "metric", attributes: { name } } },
      profile: { data: { type: "profile", attributes: { email: "not an email" } } },
    },
  },
});
const large = "x".repeat(100 * 1024);
// Cut in the middle of a character of two bytes.
const wide = `{"type": "order.placed", "properties": "${"é".repeat(20 * 1024)}"}`;

/** A request that is refused, and its entry. */
interface Case {
  send: (api: Api, profileId: string) => Promise<Answer>;
  entry: object;
  payload?: unknown;
}

const cases: Record<string, Case> = {
  "a missing field": {
    send: (api) => api.post("/v1/events", { type: "order_placed", identifier: ada, client_reference: "r" }),
    entry: {
      operation: "events.create",
      surface: "native",
      severity: "error",
      status: 400,
      error: { type: "invalid_request", code: "parameter_unknown", param: "client_reference" },
      client_reference: "r",
      event_type: "order.placed",
      payload_state: "kept",
    },
    payload: JSON.stringify({ type: "order_placed", identifier: ada, client_reference: "r" }),
  },
  "broken JSON": {
    send: (api) => api.post("/v1/events", '{"type": \u0000'),
    entry: { operation: "events.create", status: 400, error: { code: "invalid_json", param: null }, event_type: null },
    payload: '{"type": \u0000',
  },
  "an empty body": {
    send: (api) => api.post("/v1/profiles", ""),
    entry: { operation: "profiles.create", error: { code: "invalid_json" } },
    payload: "",
  },
  "a body that is cut at a character": {
    send: (api) => api.post("/v1/events", wide),
    entry: { event_type: "order.placed", payload_state: "truncated" },
    payload: expect.stringMatching(/^\{"type": "order\.placed", "properties": "é+$/),
  },
  "a body that is too large": {
    send: (api) => api.post("/v1/events", `"${"x".repeat(2 * 1024 * 1024)}"`),
    entry: { status: 413, error: { code: "request_too_large" }, payload_state: "not_kept" },
    payload: null,
  },
  "another content type": {
    send: (api) => api.request("POST", "/v1/events", { headers: { "content-type": "text/plain" }, body: "x" }),
    entry: { status: 415, error: { code: "unsupported_media_type" }, payload_state: "not_kept" },
    payload: null,
  },
  "an unknown profile": {
    send: (api) => api.patch("/v1/profiles/prof_01h00000000000000000000000", { attributes: { a: 1 } }),
    entry: { operation: "profiles.update", status: 404, error: { type: "not_found", code: "resource_not_found" } },
    payload: '{"attributes":{"a":1}}',
  },
  "a conflict": {
    send: async (api, profileId) => {
      const identifiers = [{ type: "email", value: `taken-${profileId}@example.com` }];
      await api.post("/v1/profiles", { identifiers });
      return api.post("/v1/profiles", { identifiers });
    },
    entry: { operation: "profiles.create", severity: "warning", status: 409, error: { code: "identity_conflict" } },
  },
  "another version": {
    send: (api, id) => api.patch(`/v1/profiles/${id}`, { attributes: { a: 1 } }, { headers: { "if-match": '"999"' } }),
    entry: { operation: "profiles.update", severity: "warning", status: 412, error: { code: "precondition_failed" } },
  },
  "an impossible change": {
    send: (api, id) => api.post(`/v1/profiles/${id}/merge`, { source_profile_id: id }),
    entry: { operation: "profiles.merge", status: 422, error: { code: "invalid_state_transition" } },
  },
  "several faults": {
    send: (api) => api.post("/v1/profiles/upsert", { identifiers: 1, attributes: 2 }),
    entry: { operation: "profiles.upsert", errors: [{ param: "identifiers" }, { param: "attributes" }] },
  },
  "a write in the first revision": {
    send: (api) => api.post("/v1/events", { event_type: "A" }, { headers: { "service-version": "2026-05-01" } }),
    entry: { operation: "events.create", status: 400 },
  },
  "an event of the compatibility surface": {
    send: (api) => api.post("/api/events", compatEvent("Placed Order"), { headers: vendor }),
    entry: {
      operation: "compat.events.create",
      surface: "compat",
      status: 400,
      error: { param: "/data/attributes/profile/data/attributes/email" },
      event_type: "placed.order",
    },
    payload: JSON.stringify(compatEvent("Placed Order")),
  },
  "an import of the compatibility surface without /api": {
    send: (api) => api.post("/profile-import", { data: { type: "profile", attributes: large } }, { headers: vendor }),
    entry: { operation: "compat.profile_import", surface: "compat", payload_state: "truncated" },
  },
};

describeEverywhere("refused writes", (daybook) => {
  test("are found by their request, and only in their property", async () => {
    const stranger = await daybook().newProperty();
    await Promise.all(Object.entries(cases).map(([name, one]) => expectFound(name, one, stranger)));
  });

  test("whose errors are as long as can be keep nobody else's waiting", async () => {
    const [heavy, other] = [await daybook().newProperty(), await daybook().newProperty()];
    const long = (mark: string): string => mark.repeat(250);
    const items = Array.from({ length: 600 }, (_, index) => ({
      type: `heavy.event_${index}`,
      identifier: { type: "card", value: "1" },
      properties: { [long("長")]: { [long("名")]: Array.from({ length: 20 }, () => "\u0000") } },
    }));
    expect((await heavy.post("/v1/events/batch", { events: items })).body.data.counts).toMatchObject({ failed: 600 });
    await other.post("/v1/events", { type: "order.placed", client_reference: "x".repeat(2_000) });
    const [entry] = await findRejected(other, "");
    // A reference that is none is not kept.
    expect(entry).toMatchObject({ operation: "events.create", client_reference: null });
    const counted = async () => (await heavy.get("/v1/rejected-writes/summary")).body.data.count;
    await eventually(async () => ((await counted()) === 600 ? true : undefined));
  });

  async function expectFound(name: string, { send, entry, payload }: Case, stranger: Api): Promise<void> {
    const api = await daybook().newProperty();
    const { id: profileId } = await newProfile(api);
    const answer = await send(api, profileId);
    const requestId = answer.headers.get("x-request-id");
    const found = await findRejected(api, `filter[request_id]=${requestId}`);
    const [first] = found;
    expect({ name, found }).toMatchObject({
      name,
      found: [
        {
          ...entry,
          object: "rejected_write",
          status: answer.status,
          request_id: requestId,
          item_index: null,
          key_id: api.keyId,
          key_name: "test",
          installation_id: null,
          docs_url: `${daybook().baseUrl}/docs/errors#${first.error.code}`,
        },
      ],
    });
    if (first.surface === "native" && answer.body.error.type) {
      const { type, code, message, param } = answer.body.error;
      expect(first.error).toEqual({ type, code, message, param });
    }
    const path = `/v1/rejected-writes/${first.id}`;
    const one = (await api.get(path)).body.data;
    if (payload !== undefined) expect({ name, payload: one.payload }).toEqual({ name, payload });
    const masked = await api.withScopes(["accounts:read"]);
    expect((await masked.get(path)).body.data).toEqual(first);
    expect((await stranger.get(path)).status).toBe(404);
    expect((await stranger.get("/v1/rejected-writes")).body.data).toEqual([]);
    expect((await stranger.get("/v1/rejected-writes/summary")).body.data.count).toBe(0);
    const { count, groups } = (await api.get("/v1/rejected-writes/summary")).body.data;
    expect({ name, count, ids: groups[0].sample_ids }).toEqual({ name, count: 1, ids: [first.id] });
  }
});

describe("rejected writes", () => {
  const owner = new Owner();
  let daybook: SingleProcess;
  // Of a gateway that calls its services over HTTP/2.
  let second: string;
  let cutOff: () => Promise<void>;
  let connectAgain: () => Promise<unknown>;

  beforeAll(async () => {
    daybook = await startSingleProcess(owner);
    const log = createLog("test", "silent");
    const shared = { credentials: [singleProcessToken], log, registry: createRegistry(), host: "127.0.0.1" };
    const rpc = await serveRpc({ routes: daybook.routes, port: 0, ...shared });
    const port = Number(new URL(rpc.address).port);
    cutOff = () => rpc.close();
    connectAgain = async () => owner.own(await serveRpc({ routes: daybook.routes, port, ...shared }));
    const gateway = await createGateway({
      clients: createClients(connectServices(rpc.address, singleProcessToken)),
      clock: { nowMicros: () => Date.now() * 1000 },
      log,
      registry: createRegistry(),
      limits: { ordinary: 1_000_000, backfill: 1_000_000 },
      callerAgeMsMax: 60 * 60 * 1000,
      secret: singleProcessToken,
    });
    owner.defer(() => gateway.close());
    second = await gateway.listen({ host: "127.0.0.1", port: 0 });
  });
  afterAll(() => owner.close());

  const countOf = async (api: Api): Promise<number> =>
    (await api.get("/v1/rejected-writes/summary")).body.data.count as number;

  test("keeps items of batches with their index, reference and body, once for an Idempotency-Key", async () => {
    const api = await daybook.newProperty();
    const good = { type: "order.placed", identifier: { type: "card", value: "1" }, properties: {} };
    const bad = { ...good, properties: "none", client_reference: "row 2" };
    const unknown = { ...good, identifier: undefined, profile_id: "prof_01h00000000000000000000000" };
    const headers = { "idempotency-key": "a" };
    const send = () => api.post("/v1/events/batch", { events: [good, bad, unknown] }, { headers });
    const answer = await send();
    expect((await send()).headers.get("idempotency-replayed")).toBe("true");
    const found = await findRejected(api, `filter[request_id]=${answer.headers.get("x-request-id")}`, 2);
    const of = { operation: "events.batch", event_type: "order.placed" };
    expect(found.toSorted((one, other) => one.item_index - other.item_index)).toMatchObject([
      { ...of, item_index: 1, client_reference: "row 2", status: 400, error: { param: "properties" } },
      { ...of, item_index: 2, client_reference: null, status: 404, error: { param: "profile_id" } },
    ]);
    const one = found.find((entry) => entry.item_index === 1);
    expect((await api.get(`/v1/rejected-writes/${one.id}`)).body.data.payload).toBe(JSON.stringify(bad));
    const people = await api.post("/v1/profiles/batch", { profiles: [{ identifiers: [] }] });
    const [person] = await findRejected(api, `filter[request_id]=${people.headers.get("x-request-id")}`);
    expect(person).toMatchObject({ operation: "profiles.batch", item_index: 0, event_type: null });
    expect(await countOf(api)).toBe(3);
  });

  test("keeps neither reads, nor what may be repeated, nor what nobody known sent", async () => {
    const api = await daybook.newProperty({ rateLimits: { ordinary: 4 } });
    await api.get("/v1/events?colour=red");
    await api.post("/v1/metric-aggregates", {});
    await createApi(daybook.baseUrl).post("/v1/events", {});
    await createApi(daybook.baseUrl, "sk_test_guess").post("/v1/events", {});
    await api.post("/v1/nowhere", {});
    const poor = await api.withScopes(["accounts:read"]);
    const lacking = await poor.post("/v1/events", {});
    while ((await api.post("/v1/events", {})).status !== 429);
    const entries = await findRejected(poor, "", 2);
    expect(entries.map(({ error }) => error.code)).toContain("missing_scope");
    expect(entries.map(({ request_id: id }) => id)).toContain(lacking.headers.get("x-request-id"));
    const operations = (await poor.get("/v1/rejected-writes")).body.data;
    expect(new Set(operations.map(({ operation }: { operation: string }) => operation))).toEqual(
      new Set(["events.create"]),
    );
    expect(new Set(operations.map(({ status }: { status: number }) => status))).toEqual(new Set([400, 403]));
  });

  test("says which app sent it", async () => {
    const { propertyId, ...api } = await daybook.newProperty();
    const installed = await installApp(daybook, propertyId);
    const { installationId } = installed;
    await (await installed.newToken()).post("/v1/events", {});
    const [entry] = await findRejected(api, `filter[key_id]=${installationId}`);
    expect(entry).toMatchObject({
      key_id: null,
      installation_id: installationId,
      key_name: expect.stringMatching(/./),
    });
  });

  test("keeps items that jobs refuse, with the request that made the job", async () => {
    const api = await daybook.newProperty();
    const [email, phone] = ["grace@example.com", "+351910000123"];
    await newProfile(api, { identifiers: [{ type: "email", value: email }] });
    await newProfile(api, { identifiers: [{ type: "phone", value: phone }] });
    const attributes = { email, phone_number: phone };
    const profiles = { data: [{ type: "profile", attributes }] };
    const made = await api.post(
      "/api/profile-bulk-import-jobs",
      { data: { type: "profile-bulk-import-job", attributes: { profiles } } },
      { headers: vendor },
    );
    expect(made.status).toBe(202);
    const [imported] = await findRejected(api, `filter[request_id]=${made.headers.get("x-request-id")}`);
    expect(imported).toMatchObject({
      operation: "compat.profile_bulk_import_jobs.create",
      surface: "compat",
      severity: "warning",
      status: 409,
      error: { code: "identity_conflict" },
      item_index: 0,
      key_id: api.keyId,
      key_name: "test",
      payload_state: "kept",
    });
    expect((await api.get(`/v1/rejected-writes/${imported.id}`)).body.data.payload).toBe(JSON.stringify(attributes));
    const origin = { operation: "compat.event_bulk_create_jobs.create", requestId: newId("req"), keyId: api.keyId };
    const event = { type: "Bad Type", propertiesJson: '{"a":1}', source: "test" };
    const identifier = { type: "card", value: "1" };
    const job = {
      propertyId: api.propertyId,
      jobId: newId("job"),
      items: [{ event: { ...event, profile: { reference: { case: "identifier" as const, value: identifier } } } }],
      origin: { ...origin, keyName: "test" },
    };
    await daybook.clients.events.createEventJob(job, testCall);
    const [recorded] = await findRejected(api, `filter[request_id]=${origin.requestId}`);
    expect(recorded).toMatchObject({ job_id: job.jobId, item_index: 0, error: { code: "invalid_event_type" } });
    expect(JSON.parse((await api.get(`/v1/rejected-writes/${recorded.id}`)).body.data.payload)).toEqual({
      type: "Bad Type",
      identifier,
      occurred_at: expect.any(String),
      properties: { a: 1 },
    });
    expect(await countOf(api)).toBe(2);
  });

  test("a redaction empties what names the person, and no other, and changes no count", async () => {
    const api = await daybook.newProperty();
    const [email, other] = ["grace.hopper@example.com", "other@example.com"];
    const { id } = (await api.post("/v1/profiles", { identifiers: [{ type: "email", value: email }] })).body.data;
    const refuse = async (body: unknown) => (await api.post("/v1/events", body)).headers.get("x-request-id") as string;
    const event = { type: "order.placed", properties: 1 };
    const named = await Promise.all([
      refuse({ ...event, identifier: { type: "email", value: email } }),
      refuse('{"type": "order.placed", "to": "Grace.Hopper\\u0040example.com"'),
      refuse({ ...event, profile_id: id }),
      refuse({ ...event, client_reference: email }),
    ]);
    const unnamed = await refuse({ ...event, identifier: { type: "email", value: other } });
    const idsOf = (requests: string[]) =>
      Promise.all(
        requests.map(async (request) => (await findRejected(api, `filter[request_id]=${request}`))[0].id as string),
      );
    const [ids, [kept = ""]] = [await idsOf(named), await idsOf([unnamed])];
    await daybook.clients.profiles.redactProfile({ propertyId: api.propertyId, profileId: id }, testCall);
    // Gathered before the redaction, and told after it: the repeat of the redaction finds it.
    ids.push(...(await idsOf([await refuse({ ...event, identifier: { type: "email", value: email } })])));
    for (const rejectedId of ids) {
      const path = `/v1/rejected-writes/${rejectedId}`;
      const entry = await eventually(async () => {
        const { data } = (await api.get(path)).body;
        return data.payload_state === "redacted" ? data : undefined;
      });
      expect(JSON.stringify(entry).toLowerCase()).not.toMatch(/grace|prof_/);
      expect(entry).toMatchObject({ payload: null, client_reference: null });
    }
    expect((await api.get(`/v1/rejected-writes/${kept}`)).body.data).toMatchObject({ payload_state: "kept" });
    expect(await countOf(api)).toBe(6);
  });

  test("counts exactly over two gateways, and tells what was refused while the event service was away", async () => {
    const api = await daybook.newProperty();
    const other = createApi(second, api.secret);
    await other.get("/v1/account");
    const refuse = (client: Api, times: number) =>
      Promise.all(Array.from({ length: times }, () => client.post("/v1/events", { type: "order.placed" })));
    await Promise.all([refuse(api, 150), refuse(other, 150)]);
    await cutOff();
    // Without the identity service some are answered 503, and are no refusals.
    const away = (await refuse(other, 100)).filter(({ status }) => status === 400).length;
    expect(away).toBeGreaterThan(0);
    const all = 300 + away;
    expect(await countOf(api)).toBeLessThan(all);
    await connectAgain();
    let seen = 0;
    await eventually(async () => ((seen = await countOf(api)) === all ? true : undefined), {
      explain: () => `${seen} are counted`,
    });
    const kept = (await api.get("/v1/rejected-writes?page[limit]=500")).body.data;
    // Of one minute, or of two.
    expect(kept.length).toBeGreaterThanOrEqual(20);
    expect(kept.length).toBeLessThanOrEqual(40);
  });

  test("each code leads to its entry on the page of errors", async () => {
    const page = await (await fetch(`${daybook.baseUrl}/docs/errors`)).text();
    const missing = Object.keys(errorCatalogue).filter((code) => !page.includes(`<h3 id="${code}">`));
    expect(missing).toEqual([]);
  });
});
