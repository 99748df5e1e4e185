/** Every bad input gets its own error with `param`, and leaves nothing behind. */
import { METHODS } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { createApi } from "../support/api.ts";
import { describeOnce, type TestProperty } from "../support/daybook.ts";
import { expectError, expectNothingBehind } from "../support/refusals.ts";
import { openWire } from "../support/wire.ts";
import { eventCases, good, profileId } from "./bad-events.cases.ts";

describeOnce("bad input", (daybook) => {
  let api: TestProperty;
  beforeAll(async () => {
    api = await daybook().newProperty();
  });

  describe("POST /v1/events", () => {
    test.each(eventCases)("%s", async (_name, body, status, code, param) => {
      expectError(await api.post("/v1/events", body), status, code, param);
      await expectNothingBehind(daybook(), api);
    });

    test("every field at fault is listed, the first on top", async () => {
      const { body } = await api.post("/v1/events", {
        ...good,
        type: "A",
        value: "x",
        currency: "1",
        occurred_at: "now",
      });
      expect(body.error.param).toBe("type");
      expect(body.error.errors.map(({ param }: { param: string }) => param)).toEqual([
        "type",
        "value",
        "currency",
        "occurred_at",
      ]);
    });

    test("40,000 unknown fields are refused, 20 of them named", async () => {
      const fields = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`f${index}`, 1]));
      const answer = await api.post("/v1/events", { ...good, ...fields });
      expectError(answer, 400, "parameter_unknown", "f0");
      expect(answer.body.error.errors).toHaveLength(20);
    });

    test("another Content-Type", async () => {
      const headers = { "content-type": "text/plain" };
      expectError(await api.post("/v1/events", good, { headers }), 415, "unsupported_media_type", null);
    });

    test("an unknown query parameter", async () => {
      expectError(await api.post("/v1/events?dry_run=true", good), 400, "parameter_unknown", "dry_run");
      await expectNothingBehind(daybook(), api);
    });
  });

  describe("paths and parameters", () => {
    const cases: [method: string, path: string, status: number, code: string, param: string | null][] = [
      ["GET", "/v1/events/evt_1", 400, "invalid_id", "id"],
      ["GET", `/v1/events/${profileId}`, 400, "invalid_id", "id"],
      ["GET", `/v1/profiles/${"x".repeat(400)}`, 400, "invalid_id", "id"],
      ["GET", `/v1/profiles/${profileId}`, 404, "resource_not_found", "id"],
      ["GET", "/v1/metrics/mtr_01h00000000000000000000000", 404, "resource_not_found", "id"],
      ["GET", `/v1/events/evt_01h00000000000000000000000?expand=flow`, 400, "unsupported_expand", "expand"],
      ["GET", "/v1/metrics?sort=name", 400, "unsupported_sort", "sort"],
      ["GET", "/v1/metrics?filter[colour]=red", 400, "unsupported_filter", "filter[colour]"],
      ["GET", "/v1/metrics?filter[name][gte]=a", 400, "unsupported_filter", "filter[name][gte]"],
      ["GET", "/v1/metrics?filter[system]=1", 400, "parameter_invalid", "filter[system]"],
      ["GET", "/v1/metrics?page[limit]=0", 400, "parameter_invalid", "page[limit]"],
      ["GET", "/v1/metrics?page[limit]=x", 400, "parameter_invalid", "page[limit]"],
      ["GET", "/v1/metrics?page[limit]=1&page[limit]=2", 400, "parameter_invalid", "page[limit]"],
      ["GET", "/v1/metrics?page[after]=cur_AAAA", 400, "invalid_cursor", "page[after]"],
      ["GET", "/v1/metrics?colour=red", 400, "parameter_unknown", "colour"],
      ["GET", "/v1/profiles?sort=email", 400, "unsupported_sort", "sort"],
      ["GET", "/v1/profiles?sort=created_at,id", 400, "unsupported_sort", "sort"],
      ["GET", "/v1/profiles?filter[name]=x", 400, "unsupported_filter", "filter[name]"],
      ["GET", "/v1/profiles?filter[created_at]=2026-01-01T00:00:00Z", 400, "unsupported_filter", "filter[created_at]"],
      ["GET", "/v1/profiles?filter[created_at][eq]=x", 400, "unsupported_filter", "filter[created_at][eq]"],
      ["GET", "/v1/profiles?filter[email][gte]=x", 400, "unsupported_filter", "filter[email][gte]"],
      ["GET", "/v1/profiles?filter[__proto__]=x", 400, "unsupported_filter", "filter[__proto__]"],
      ["GET", "/v1/profiles?filter[created_at][gte]=now", 400, "parameter_invalid", "filter[created_at][gte]"],
      ["GET", "/v1/profiles?filter[phone]=123", 400, "parameter_invalid", "filter[phone]"],
      ["GET", "/v1/profiles?filter[email]=", 400, "parameter_invalid", "filter[email]"],
      ["GET", "/v1/profiles?filter[status]=gone", 400, "parameter_invalid", "filter[status]"],
      ["GET", "/v1/profiles?expand=events", 400, "unsupported_expand", "expand"],
      ["GET", "/v1/profiles?page[limit]=0", 400, "parameter_invalid", "page[limit]"],
      ["GET", "/v1/profiles?page[limit]=x", 400, "parameter_invalid", "page[limit]"],
      ["GET", "/v1/profiles?page[limit]=1e3", 400, "parameter_invalid", "page[limit]"],
      ["GET", "/v1/profiles?page[limit]=-1", 400, "parameter_invalid", "page[limit]"],
      ["GET", "/v1/profiles?page[after]=cur_", 400, "invalid_cursor", "page[after]"],
      ["GET", `/v1/profiles/${profileId}?resolve=maybe`, 400, "parameter_invalid", "resolve"],
      ["GET", "/v1/profiles?resolve=false", 400, "parameter_unknown", "resolve"],
      ["GET", "/v1/events?filter[profile_id]=x", 400, "invalid_id", "filter[profile_id]"],
      ["GET", "/v1/events?sort=type", 400, "unsupported_sort", "sort"],
      ["GET", "/v1/events?filter[email]=a@b.c", 400, "unsupported_filter", "filter[email]"],
      ["GET", "/v1/schemas?filter[resource]=metric", 400, "parameter_invalid", "filter[resource]"],
      ["GET", "/v1/schemas?filter[resource]=", 400, "parameter_invalid", "filter[resource]"],
      ["GET", "/v1/schemas?filter[type]=a.b", 400, "unsupported_filter", "filter[type]"],
      ["GET", "/v1/schemas?sort=type", 400, "unsupported_sort", "sort"],
      ["GET", "/v1/schemas?expand=metric", 400, "unsupported_expand", "expand"],
      ["GET", "/v1/schemas?resource=event", 400, "parameter_unknown", "resource"],
      ["GET", "/v1/schemas?page[limit]=0", 400, "parameter_invalid", "page[limit]"],
      ["GET", "/v1/schemas?page[after]=cur_AAAA", 400, "invalid_cursor", "page[after]"],
      ["POST", "/v1/schemas", 405, "method_not_allowed", null],
      ["GET", "/v1/schemas/profile", 404, "resource_not_found", null],
      ["DELETE", `/v1/profiles/${profileId}`, 405, "method_not_allowed", null],
      ["GET", "/v1/nothing", 404, "resource_not_found", null],
      ["GET", "/nothing", 404, "resource_not_found", null],
      ["GET", "/v1/events/%ff", 400, "bad_request", null],
      ["GET", "/v1/metrics?filter[name]=%00", 400, "parameter_invalid", "filter[name]"],
      ["PROPFIND", "/v1/events", 405, "method_not_allowed", null],
      ["POST", "/health/live", 405, "method_not_allowed", null],
      ["DELETE", "/v1/events", 405, "method_not_allowed", null],
      ["PUT", "/v1/events/batch", 405, "method_not_allowed", null],
    ];
    test.each(cases)("%s %s", async (method, path, status, code, param) => {
      expectError(await api.request(method, path), status, code, param);
    });

    const wrongMethods = METHODS.filter((method) => !["CONNECT", "GET", "HEAD", "POST"].includes(method));
    test.each(wrongMethods)("%s is no method of a list, and is named", async (method) => {
      const wire = await openWire(daybook().baseUrl);
      const head = `${method} /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.secret}\r\n`;
      wire.write(`${head}Content-Length: 0\r\n\r\n`);
      const [answer] = await wire.answers(1);
      wire.end();
      expect(answer?.status).toBe(405);
      expect(answer?.headers.get("allow")).toBe("GET, HEAD, POST");
      const { error } = JSON.parse(answer?.body ?? "");
      expect(error.message).toBe(`The method ${method} is not allowed here. Use one of GET, HEAD, POST.`);
    });

    test("a wrong method names the right ones", async () => {
      expect((await api.request("DELETE", "/v1/events")).headers.get("allow")).toBe("GET, HEAD, POST");
      expect((await api.request("DELETE", "/v1/metrics")).headers.get("allow")).toBe("GET, HEAD, POST");
    });
  });

  describe("keys", () => {
    test.each([
      ["no key", undefined],
      ["an empty key", ""],
      ["a wrong key", `sk_test_${"x".repeat(40)}`],
      ["a key that is far too long", "x".repeat(8000)],
    ])("%s", async (_name, secret) => {
      const stranger = createApi(daybook().baseUrl, secret);
      const answer = await stranger.post("/v1/events", good);
      expectError(answer, 401, "invalid_api_key", null);
      expect(answer.body.error.type).toBe("authentication_error");
      await expectNothingBehind(daybook(), api);
    });

    test("a good key in another scheme", async () => {
      const headers = { authorization: `Basic ${api.secret}` };
      const answer = await createApi(daybook().baseUrl).post("/v1/events", good, { headers });
      expectError(answer, 401, "invalid_api_key", null);
    });

    test.each([
      ["POST", "/v1/events", "events:write"],
      ["POST", "/v1/events/batch", "events:write"],
      ["GET", "/v1/events/evt_01h00000000000000000000000", "events:read"],
      ["POST", "/v1/profiles/upsert", "profiles:write"],
      ["POST", "/v1/profiles", "profiles:write"],
      ["POST", "/v1/profiles/batch", "profiles:write"],
      ["GET", "/v1/profiles", "profiles:read"],
      ["GET", `/v1/profiles/${profileId}`, "profiles:read"],
      ["PATCH", `/v1/profiles/${profileId}`, "profiles:write"],
      ["POST", `/v1/profiles/${profileId}/merge`, "profiles:merge"],
      ["GET", `/v1/profiles/${profileId}/identifiers`, "profiles:read"],
      ["POST", `/v1/profiles/${profileId}/identifiers`, "identifiers:write"],
      ["PATCH", `/v1/profiles/${profileId}/identifiers/x`, "identifiers:write"],
      ["DELETE", `/v1/profiles/${profileId}/identifiers/x`, "identifiers:write"],
      ["GET", "/v1/events", "events:read"],
      ["GET", "/v1/metrics", "metrics:read"],
      ["GET", "/v1/metrics/mtr_01h00000000000000000000000", "metrics:read"],
      ["POST", "/v1/metrics", "metrics:write"],
      ["PATCH", "/v1/metrics/mtr_01h00000000000000000000000", "metrics:write"],
    ])("%s %s needs %s", async (method, path, scope) => {
      const poor = await api.withScopes(["accounts:read"]);
      const body =
        method === "POST" || method === "PATCH"
          ? { headers: { "content-type": "application/json" }, body: JSON.stringify(good) }
          : {};
      const answer = await poor.request(method, path, body);
      expect(answer.status).toBe(403);
      expect(answer.body.error).toMatchObject({ type: "authorization_error", code: "missing_scope" });
      expect(answer.body.error.message).toContain(scope);
      await expectNothingBehind(daybook(), api);
    });

    test("expanding another resource needs the scope of that resource", async () => {
      const other = await daybook().newProperty();
      const { body } = await other.post("/v1/events", good);
      const reader = await other.withScopes(["events:read"]);
      expect((await reader.get(`/v1/events/${body.data.id}`)).status).toBe(200);
      const answer = await reader.get(`/v1/events/${body.data.id}?expand=profile`);
      expect(answer.status).toBe(403);
      expect(answer.body.error.message).toContain("profiles:read");
    });
  });
});
