/**
 * Every refusal of every operation, provoked, in the form of both revisions: what it says of itself agrees with its
 * headers.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorCatalogue, type ErrorCode } from "#shared/values/errors.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { createRegistry, serveRpc } from "#shared/rpc/server.ts";
import { createGateway } from "../../gateway/app.ts";
import { createClients } from "../../gateway/clients.ts";
import { connectServices } from "../../gateway/config.ts";
import { exampleIds } from "../../gateway/native/examples.ts";
import { createApi, type Answer, type Api } from "../support/api.ts";
import { installApp } from "../support/apps.ts";
import {
  singleProcessToken,
  startSingleProcess,
  testCall,
  type SingleProcess,
  type TestProperty,
} from "../support/daybook.ts";
import { fillPath, readOpenApi, type DescribedOperation, type OpenApi } from "../support/openapi.ts";
import { makePrivacyRequests } from "../support/privacy.ts";
import { newWebhookIds } from "../support/webhooks.ts";
import { newProfile } from "../support/people.ts";
import { newRejectedWrite } from "../support/rejected-writes.ts";

const log = createLog("test", "silent");
const json = { "content-type": "application/json" };
const newest = "2026-11-01";
const oldest = "2026-05-01";
const bodyBytesMax = 2 * 1024 * 1024;
// In the middle of a window, which does not end.
const windowMicros = 60_000_000;
const now = Math.floor((Date.now() * 1000) / windowMicros) * windowMicros + windowMicros / 2;
const clock = { nowMicros: () => now };
// The codes of the getting-started guide.
const guideCodes: Readonly<Record<number, string>> = {
  400: "validation_error",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  405: "method_not_allowed",
  413: "validation_error",
  415: "validation_error",
  429: "rate_limit_exceeded",
  500: "internal_error",
  503: "upstream_error",
};
const bounded: ReadonlySet<number> = new Set([429, 503]);
const retryable: ReadonlySet<number> = new Set([429, 500, 503]);

/** What a test changes of a good request. */
interface Change {
  client?: Pick<Api, "request">;
  method?: string;
  path?: string;
  body?: string;
  headers?: Record<string, string>;
}

describe("refusals", () => {
  const owner = new Owner();
  let daybook: SingleProcess;
  let baseUrl: string;
  let openApi: OpenApi;
  let key: TestProperty;
  // Of the gateway that the tests ask, whose services can be taken away.
  let api: Api;
  let stranger: Api;
  let poor: Api;
  let used: Api;
  let ids: Record<string, string>;
  let cutOff: () => Promise<void>;

  beforeAll(async () => {
    daybook = await startSingleProcess(owner, { clock, log });
    const shared = { credentials: [singleProcessToken], log, registry: createRegistry() };
    const rpc = await serveRpc({ routes: daybook.routes, host: "127.0.0.1", port: 0, ...shared });
    cutOff = () => rpc.close();
    const url = rpc.address;
    const gateway = await createGateway({
      clients: createClients(connectServices(url, singleProcessToken)),
      clock,
      log,
      registry: createRegistry(),
      limits: { ordinary: 1_000_000, backfill: 1_000_000 },
      callerAgeMsMax: 60 * 60 * 1000,
      secret: singleProcessToken,
    });
    owner.defer(() => gateway.close());
    baseUrl = await gateway.listen({ host: "127.0.0.1", port: 0 });
    key = await daybook.newProperty();
    api = createApi(baseUrl, key.secret);
    stranger = createApi(baseUrl);
    poor = createApi(baseUrl, (await daybook.newProperty({ scopes: ["segments:read"] })).secret);
    used = createApi(baseUrl, (await daybook.newProperty({ rateLimits: { ordinary: 1, backfill: 1 } })).secret);
    await used.get("/v1/account");
    const [profile, other] = [await newProfile(key), await newProfile(key)];
    const metric = (await api.post("/v1/metrics", { name: "a.b" })).body.data;
    const event = (await api.post("/v1/events", { type: "a.b", profile_id: profile.id, properties: {} })).body.data;
    const installed = await installApp(daybook, key.propertyId);
    const privacy = await makePrivacyRequests(daybook, key);
    const webhooks = await newWebhookIds(key);
    ids = {
      [exampleIds.profile]: profile.id,
      [exampleIds.otherProfile]: other.id,
      [exampleIds.identifier]: profile.identifier_ids[0] ?? "",
      [exampleIds.event]: event.id,
      [exampleIds.metric]: metric.id,
      [exampleIds.app]: installed.appId,
      [exampleIds.installation]: installed.installationId,
      [exampleIds.privacyRequest]: privacy.privacyRequest,
      [exampleIds.pendingPrivacyRequest]: privacy.pendingPrivacyRequest,
      [exampleIds.failedPrivacyRequest]: privacy.failedPrivacyRequest,
      [exampleIds.suppression]: privacy.suppression,
      [exampleIds.rejectedWrite]: await newRejectedWrite(api),
      [exampleIds.webhookEndpoint]: webhooks.webhookEndpoint,
      [exampleIds.webhookDelivery]: webhooks.webhookDelivery,
    };
    openApi = await readOpenApi(api);
  });
  afterAll(() => owner.close());

  /** The path of an operation with real ids in it. */
  const pathOf = (operation: DescribedOperation): string =>
    fillPath(operation, ({ example }) => ids[String(example)] ?? "");

  /** Sends a good request but for the change. */
  function send(operation: DescribedOperation, change: Change, revision: string): Promise<Answer> {
    const example = Object.values(operation.body?.examples ?? {})[0]?.value;
    const good = JSON.stringify(example, (_key, value: unknown) => (typeof value === "string" && ids[value]) || value);
    const { client = api, method = operation.method, path = pathOf(operation), body = good } = change;
    const headers = { "service-version": revision, ...(body === undefined ? {} : json), ...change.headers };
    return client.request(method, path, body === undefined ? { headers } : { headers, body });
  }

  /** Checks what an answer says of itself, in the form of its revision. */
  function expectRefusal(answer: Answer, status: number, revision: string, about: string): void {
    // The guide has upstream_error with 502.
    const shown = revision === oldest && status === 503 ? 502 : status;
    expect([about, answer.status, answer.text.slice(0, 300)]).toEqual([about, shown, expect.any(String)]);
    const { headers, body } = answer;
    const requestId = headers.get("x-request-id");
    expect(requestId).toMatch(/^req_[0-7][0-9a-z]{25}$/);
    expect([about, headers.get("service-version")]).toEqual([about, revision]);
    for (const name of ["limit", "remaining", "reset"]) expect(headers.get(`ratelimit-${name}`)).toMatch(/^\d+$/);
    expect([about, headers.get("retry-after")]).toEqual([
      about,
      bounded.has(status) ? expect.stringMatching(/^[1-9]\d*$/) : null,
    ]);
    expect(Object.keys(body)).toEqual(["error"]);
    const { error } = body;
    if (revision === oldest) {
      const isValidation = guideCodes[status] === "validation_error";
      expect([about, error]).toEqual([
        about,
        {
          code: guideCodes[status],
          message: expect.stringMatching(/\S/),
          field: isValidation ? error.field : null,
          request_id: requestId,
        },
      ]);
      expect(["string", "object"]).toContain(typeof error.field);
      return;
    }
    const entry = errorCatalogue[error.code as ErrorCode];
    expect([about, entry.status]).toEqual([about, status]);
    expect([about, error]).toEqual([
      about,
      {
        type: entry.type,
        code: error.code,
        message: expect.stringMatching(/\S/),
        param: error.param,
        request_id: requestId,
        retryable: retryable.has(status),
        retry_after_ms: bounded.has(status) ? expect.any(Number) : null,
        ...(error.errors ? { errors: error.errors } : {}),
      },
    ]);
    expect(error.param === null || typeof error.param === "string").toBe(true);
    if (bounded.has(status)) expect(Math.ceil(error.retry_after_ms / 1000)).toBe(Number(headers.get("retry-after")));
  }

  /** Has every operation refuse in both revisions; one that cannot has no change. */
  async function expectRefusals(
    status: number,
    changeOf: (operation: DescribedOperation) => Change | undefined,
  ): Promise<number> {
    let refused = 0;
    for (const operation of openApi.operations) {
      const change = changeOf(operation);
      if (!change) continue;
      for (const revision of [newest, oldest]) {
        const about = `${operation.operationId} in ${revision}`;
        const answer = await send(operation, change, revision);
        expectRefusal(answer, status, revision, about);
        refused++;
        // What is not of the operation itself is not described with it.
        if (revision === newest && change.method === undefined && !change.path?.includes("/nowhere")) {
          openApi.expectDescribed(answer, operation);
        }
      }
    }
    return refused;
  }

  const all = (): number => 2 * openApi.operations.length;
  const takesBody = ({ method }: DescribedOperation): boolean => method !== "GET";

  test("400", async () => {
    expect(await expectRefusals(400, (operation) => ({ path: `${pathOf(operation)}?colour=red` }))).toBe(all());
    expect(await expectRefusals(400, ({ body }) => body && { body: "{" })).toBeGreaterThan(20);
    // Fields that no form has.
    expect(await expectRefusals(400, ({ body }) => body && { body: '{"colour":"red","size":1}' })).toBeGreaterThan(20);
  });

  test("401", async () => {
    expect(await expectRefusals(401, () => ({ client: stranger }))).toBe(all());
    expect(await expectRefusals(401, () => ({ headers: { authorization: "Bearer sk_test_guess" } }))).toBe(all());
  });

  test("403", async () => {
    // Those of webhooks ask for the scopes of types only, and show what the caller may read.
    const isGuarded = ({ path }: DescribedOperation): boolean =>
      path !== "/v1/revisions" && !path.startsWith("/v1/webhook-");
    const refused = await expectRefusals(403, (operation) => (isGuarded(operation) ? { client: poor } : undefined));
    expect(refused).toBe(2 * openApi.operations.filter(isGuarded).length);
  });

  test("404", async () => {
    expect(await expectRefusals(404, (operation) => ({ path: `${pathOf(operation)}/nowhere/x` }))).toBe(all());
    const nobody = (path: string): string =>
      path.replace(/\b(prof|evt|mtr|app|inst|priv|supp|rej|hook|dlv)_[0-9a-z]{26}/, "$1_01h00000000000000000000000");
    const refused = await expectRefusals(404, (operation) =>
      operation.path.includes("{") ? { path: nobody(pathOf(operation)) } : undefined,
    );
    expect(refused).toBeGreaterThan(10);
  });

  test("405", async () => {
    expect(await expectRefusals(405, () => ({ method: "PUT" }))).toBe(all());
  });

  test("413", async () => {
    const body = `"${"x".repeat(bodyBytesMax)}"`;
    expect(await expectRefusals(413, (operation) => (takesBody(operation) ? { body } : undefined))).toBeGreaterThan(20);
  });

  test("415", async () => {
    const change = { body: "x", headers: { "content-type": "text/plain" } };
    expect(await expectRefusals(415, (operation) => (takesBody(operation) ? change : undefined))).toBeGreaterThan(20);
  });

  test("429", async () => {
    expect(await expectRefusals(429, () => ({ client: used }))).toBe(all());
  });

  test("are in the form that the key is pinned to, unless the request asks for another", async () => {
    const client = daybook.clients.identity;
    const pinned = { propertyId: key.propertyId, name: "pinned", revision: oldest };
    const { secret } = await client.createKey({ ...pinned, scopes: ["accounts:read"] }, testCall);
    const limited = await client.createKey(
      { ...pinned, scopes: ["accounts:read"], rateLimits: { ordinary: 1 } },
      testCall,
    );
    const old = createApi(baseUrl, secret);
    const spent = createApi(baseUrl, limited.secret);
    await spent.get("/v1/account");
    for (const revision of [oldest, newest]) {
      const asked = revision === oldest ? {} : { headers: { "service-version": revision } };
      expectRefusal(await old.get("/v1/account?colour=red", asked), 400, revision, "400");
      expectRefusal(await old.get("/v1/events", asked), 403, revision, "403");
      expectRefusal(await spent.get("/v1/account", asked), 429, revision, "429");
    }
    const unreal = await old.get("/v1/account", { headers: { "service-version": "2026-02-30" } });
    expectRefusal(unreal, 400, oldest, "a revision that there is not");
  });

  // The last two take away what the others need.
  // These two are answered as long as the gateway has requests left of its share of the window.
  const withoutServices = new Set(["listRevisions", "listWebhookTypes"]);
  const needsServices = ({ operationId }: DescribedOperation): Change | undefined =>
    withoutServices.has(operationId) ? undefined : {};

  test("500", async () => {
    const client = new pg.Client({ connectionString: daybook.databaseUrl });
    await client.connect();
    owner.defer(() => client.end());
    for (const schema of ["identity", "profile", "event", "metric", "webhook"]) {
      await client.query(`ALTER SCHEMA ${schema} RENAME TO ${schema}_away`);
    }
    expect(await expectRefusals(500, needsServices)).toBe(all() - 2 * withoutServices.size);
    for (const schema of ["identity", "profile", "event", "metric", "webhook"]) {
      await client.query(`ALTER SCHEMA ${schema}_away RENAME TO ${schema}`);
    }
    // That a share of a rate window could not be leased is remembered for 250 ms, while requests still have some of the
    // share before.
    await sleep(500);
    expect((await api.get("/v1/account")).status).toBe(200);
  });

  test("503", async () => {
    await cutOff();
    expect(await expectRefusals(503, needsServices)).toBe(all() - 2 * withoutServices.size);
  });
});
