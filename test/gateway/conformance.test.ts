/**
 * Every operation of the OpenAPI document, driven with requests made from the document: it answers only what the
 * document says.
 */
import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { exampleIds } from "../../gateway/native/examples.ts";
import { createApi, type Answer, type RequestOptions } from "../support/api.ts";
import { installApp, type TestInstallation } from "../support/apps.ts";
import { describeOnce, type TestProperty } from "../support/daybook.ts";
import { breakages, valuesOf } from "../support/generated.ts";
import { fillPath, readOpenApi, type DescribedOperation, type OpenApi } from "../support/openapi.ts";
import { makePrivacyRequests } from "../support/privacy.ts";
import { newWebhookIds } from "../support/webhooks.ts";
import { newProfile } from "../support/people.ts";
import { newRejectedWrite } from "../support/rejected-writes.ts";

const generatedPerOperation = 40;
const seed = 20_261_101;
const json = { "content-type": "application/json" };
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"];

describeOnce("conformance", (daybook) => {
  let openApi: OpenApi;
  let count = 0;
  let api: TestProperty;
  let poor: Awaited<ReturnType<TestProperty["withScopes"]>>;
  let installation: TestInstallation;
  let privacy: Awaited<ReturnType<typeof makePrivacyRequests>>;
  let rejectedWrite: string;
  let webhooks: Awaited<ReturnType<typeof newWebhookIds>>;
  let words: string[];
  let ids: Record<string, string>;
  beforeAll(async () => {
    api = await daybook().newProperty();
    poor = await api.withScopes(["segments:read"]);
    openApi = await readOpenApi(api);
    installation = await installApp(daybook(), api.propertyId);
    privacy = await makePrivacyRequests(daybook(), api);
    rejectedWrite = await newRejectedWrite(api);
    webhooks = await newWebhookIds(api);
  });
  // What one test does to them is not the other's business.
  beforeEach(async () => {
    const [profile, other] = [await newProfile(api), await newProfile(api)];
    const type = `a.b${++count}`;
    const metric = (await api.post("/v1/metrics", { name: type })).body.data;
    const event = (await api.post("/v1/events", { type, profile_id: profile.id, properties: {} })).body.data;
    ids = {
      [exampleIds.profile]: profile.id,
      [exampleIds.otherProfile]: other.id,
      [exampleIds.identifier]: profile.identifier_ids[0] ?? "",
      [exampleIds.event]: event.id,
      [exampleIds.metric]: metric.id,
      [exampleIds.app]: installation.appId,
      [exampleIds.installation]: installation.installationId,
      [exampleIds.privacyRequest]: privacy.privacyRequest,
      [exampleIds.pendingPrivacyRequest]: privacy.pendingPrivacyRequest,
      [exampleIds.failedPrivacyRequest]: privacy.failedPrivacyRequest,
      [exampleIds.suppression]: privacy.suppression,
      [exampleIds.rejectedWrite]: rejectedWrite,
      [exampleIds.webhookEndpoint]: webhooks.webhookEndpoint,
      [exampleIds.webhookDelivery]: webhooks.webhookDelivery,
    };
    words = [
      profile.id,
      other.id,
      event.id,
      metric.id,
      type,
      "order.completed",
      "sms.x",
      "email",
      "phone",
      "external_id",
      "+351910000123",
      "ada@example.com",
      "2026-11-02T09:30:00Z",
      "1.50",
      "EUR",
      "PT",
      "Europe/Lisbon",
      "x",
      "source",
      "currency",
    ];
  });

  /** The path of an operation; real ids stand in it unless others are given. */
  function pathOf(operation: DescribedOperation, given: Record<string, string> = {}): string {
    return fillPath(operation, ({ name, example }) => given[name] ?? ids[String(example)] ?? "");
  }

  /** The first body that is shown, with real ids in it. */
  function bodyOf({ body }: DescribedOperation): string | undefined {
    const [example] = Object.values(body?.examples ?? {});
    if (!example) return undefined;
    return JSON.stringify(example.value, (_key, value: unknown) => (typeof value === "string" && ids[value]) || value);
  }

  /** Sends a good request, but for what is said otherwise, and checks that the answer is described. */
  async function call(
    operation: DescribedOperation,
    {
      client = api,
      path = pathOf(operation),
      body = bodyOf(operation),
      headers = {},
    }: {
      client?: Pick<TestProperty, "request">;
      path?: string;
      body?: string | Uint8Array | undefined;
    } & RequestOptions = {},
  ): Promise<Answer> {
    const sent = body === undefined ? { headers } : { headers: { ...json, ...headers }, body: body as string };
    const answer = await client.request(operation.method, path, sent);
    expect(answer.status).toBeLessThan(500);
    openApi.expectDescribed(answer, operation);
    return answer;
  }

  /** Says that a request was refused, and which it was if not. */
  function expectRefused(answer: Answer, body: string): void {
    const failed = answer.body.data?.counts?.failed > 0;
    expect([answer.status >= 400 || failed, body.slice(0, 500)]).toEqual([true, body.slice(0, 500)]);
  }

  const withBody = (): DescribedOperation[] => openApi.operations.filter(({ body }) => body);

  test("bodies made from the schemas get answers that are described", async () => {
    for (const operation of withBody()) {
      const values = valuesOf(operation.body?.schema ?? {}, openApi.resolve, words);
      const texts = values.map((value) => JSON.stringify(value));
      for (const body of fc.sample(texts, { numRuns: generatedPerOperation, seed })) await call(operation, { body });
    }
    expect(withBody().length).toBeGreaterThan(10);
  });

  test("what does not fit the schema is refused", async () => {
    let refused = 0;
    for (const operation of withBody()) {
      const validate = openApi.compile(operation.body?.schema ?? {});
      for (const { value } of Object.values(operation.body?.examples ?? {})) {
        for (const broken of breakages(value)) {
          const body = JSON.stringify(broken);
          const answer = await call(operation, { body });
          if (validate(broken)) continue;
          expectRefused(answer, body);
          refused++;
        }
      }
    }
    expect(refused).toBeGreaterThan(500);
  });

  test("bodies that are no JSON, or come as something else, are refused", async () => {
    const texts = [
      "",
      "{",
      "nul",
      "{}{}",
      "{'a':1}",
      new Uint8Array([0xff]),
      `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
    ];
    for (const operation of withBody()) {
      for (const body of texts) expect((await call(operation, { body })).body.error.code).toBe("invalid_json");
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "x"]) {
        const headers = { "content-type": type };
        expect((await call(operation, { headers })).body.error.code).toBe("unsupported_media_type");
      }
    }
    // A removal takes no body, but is not asked to read one either.
    for (const operation of openApi.operations.filter(({ method }) => method === "DELETE")) {
      await call(operation, { body: "{" });
      await call(operation, { body: "x", headers: { "content-type": "text/plain" } });
    }
  });

  test("methods that are not described are refused, and those that are stand in Allow", async () => {
    for (const path of new Set(openApi.operations.map((operation) => operation.path))) {
      const here = openApi.operations.filter((operation) => operation.path === path);
      const described = new Set(here.map(({ method }) => method));
      if (described.has("GET")) described.add("HEAD");
      for (const method of methods.filter((name) => !described.has(name))) {
        const answer = await api.request(method, pathOf(here[0] as DescribedOperation));
        expect([path, method, answer.status]).toEqual([path, method, 405]);
        expect(new Set(answer.headers.get("allow")?.split(", "))).toEqual(described);
      }
    }
  });

  test("HEAD answers as GET does, without a body", async () => {
    for (const operation of openApi.operations.filter(({ method }) => method === "GET")) {
      const answer = await api.request("HEAD", pathOf(operation));
      expect([operation.operationId, answer.status, answer.text]).toEqual([operation.operationId, 200, ""]);
      expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    }
  });

  test("HEAD is refused as GET is, with the length that GET's body has", async () => {
    const stranger = createApi(daybook().baseUrl, "bad");
    for (const operation of [...openApi.operations, ...openApi.compat].filter(({ method }) => method === "GET")) {
      const [get, head] = [await stranger.get(operation.path), await stranger.request("HEAD", operation.path)];
      const lengths = [get, head].map(({ status, headers }) => [status, headers.get("content-length")]);
      expect([operation.operationId, lengths[1]]).toEqual([operation.operationId, lengths[0]]);
      expect(head.text).toBe("");
    }
  });

  describe("ids in paths", () => {
    test.each([
      ["no id", "x", 400],
      ["an id of another kind", "req_01h00000000000000000000000", 400],
      ["an id that nothing has", undefined, 404],
      ["U+0000", "%00", 400],
      ["half a character", "%ff", 400],
      ["too long a text", "x".repeat(600), 400],
      ["a path within a path", "..%2f..%2fhealth%2flive", 400],
    ])("%s", async (_name, id, status) => {
      for (const operation of openApi.operations) {
        for (const { name, example } of operation.parameters.filter((parameter) => parameter.in === "path")) {
          const nobody = String(example).replace(/_.*/, "_01h00000000000000000000000");
          const answer = await call(operation, { path: pathOf(operation, { [name]: id ?? nobody }) });
          expect([operation.operationId, name, answer.status]).toEqual([operation.operationId, name, status]);
        }
      }
    });
  });

  test("parameters that are not described are refused by name", async () => {
    for (const operation of openApi.operations) {
      const path = pathOf(operation);
      const answer = await call(operation, { path: `${path}?colour=red` });
      expect([operation.operationId, answer.body.error?.param]).toEqual([operation.operationId, "colour"]);
      for (const query of [
        "filter[colour]=red",
        "sort=colour",
        "expand=colour",
        "page[after]=cur_x",
        "a=1&a=2",
        "%ff=%ff",
      ]) {
        expect([operation.operationId, query, (await call(operation, { path: `${path}?${query}` })).status]).toEqual([
          operation.operationId,
          query,
          400,
        ]);
      }
    }
  });

  test("parameters that are described take or refuse whatever they are given", async () => {
    for (const operation of openApi.operations) {
      for (const { name, in: place } of operation.parameters) {
        if (place !== "query") continue;
        for (const value of [
          "",
          "x",
          "0",
          "-1",
          "1e3",
          "null",
          "%00",
          "%ff",
          "%F0%9F%98%80",
          "2026-02-30T00:00:00Z",
          "x".repeat(8000),
        ]) {
          await call(operation, { path: `${pathOf(operation)}?${name}=${value}` });
        }
        expect((await call(operation, { path: `${pathOf(operation)}?${name}=1&${name}=1` })).status).toBe(400);
      }
    }
  });

  test("If-Match that is no entity tag is refused, and one that is stale", async () => {
    const conditional = openApi.operations.filter(({ parameters }) =>
      parameters.some(({ name }) => name === "If-Match"),
    );
    expect(conditional.length).toBeGreaterThan(5);
    for (const operation of conditional) {
      for (const [value, status] of [
        ["v1", 400],
        ['"', 400],
        ["x".repeat(2000), 400],
        ['"v999999"', 412],
      ] as const) {
        const answer = await call(operation, { headers: { "if-match": value } });
        expect([operation.operationId, value, answer.status]).toEqual([operation.operationId, value, status]);
      }
    }
  });

  test("If-Match is refused by every write that does not look at it, and does nothing", async () => {
    const writes = openApi.operations.filter(
      ({ method, parameters }) =>
        method !== "GET" &&
        parameters.some(({ name }) => name === "Idempotency-Key") &&
        !parameters.some(({ name }) => name === "If-Match"),
    );
    expect(writes.length).toBeGreaterThan(3);
    for (const operation of writes) {
      const answer = await call(operation, { headers: { "if-match": '"v1"' } });
      expect([operation.operationId, answer.status, answer.body.error?.code, answer.body.error?.param]).toEqual([
        operation.operationId,
        400,
        "parameter_invalid",
        "If-Match",
      ]);
    }
  });

  test("Service-Version asks for a revision, or is refused", async () => {
    for (const operation of openApi.operations) {
      for (const asked of ["2026-02-30", "yesterday", "2026-04-30", "", "2026-11-01,2026-11-01"]) {
        const answer = await call(operation, { headers: { "service-version": asked } });
        expect(answer.body.error.code).toBe("invalid_revision");
      }
      const path = `${pathOf(operation)}?colour=red`;
      const body = bodyOf(operation);
      const old = await api.request(operation.method, path, {
        headers: { ...(body === undefined ? {} : json), "service-version": "2026-10-31" },
        ...(body === undefined ? {} : { body }),
      });
      expect(old.headers.get("service-version")).toBe("2026-05-01");
      expect([operation.operationId, old.body.error]).toEqual([
        operation.operationId,
        {
          code: "validation_error",
          message: expect.any(String),
          field: "colour",
          request_id: old.headers.get("x-request-id"),
        },
      ]);
    }
  });

  test("without a key, or with one that may not, nothing is told", async () => {
    for (const operation of openApi.operations) {
      const stranger = await call(operation, { client: createApi(daybook().baseUrl) });
      expect(stranger.body.error.code).toBe("invalid_api_key");
      const scope = /Scope: `(.*?)`/.exec(operation.description)?.[1];
      const answer = await call(operation, { client: poor });
      // Without a scope of its own, an operation may ask for those of what its body names.
      const message = expect.stringContaining(scope ?? "scope");
      if (scope !== undefined || answer.status === 403) {
        expect(answer.body.error).toMatchObject({ code: "missing_scope", message });
      } else expect([200, 202, 204, 404, 422], operation.operationId).toContain(answer.status);
    }
  });
});
