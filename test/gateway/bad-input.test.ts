/** Every bad input gets its own error with `param`, and leaves nothing behind. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeId } from "#shared/ids.ts";
import { createApi } from "../support/api.ts";
import { describeEverywhere, type TestProperty } from "../support/daybook.ts";
import { newProfile, type Person } from "../support/people.ts";
import { eventCases, good, profileId, type Case } from "./bad-events.cases.ts";
import { guideCases, operationCases, profileCases, updateCases } from "./bad-profiles.cases.ts";

describeEverywhere("bad input", (daybook) => {
  let api: TestProperty;
  let database: pg.Client;
  beforeAll(async () => {
    api = await daybook().newProperty();
    database = new pg.Client({ connectionString: daybook().databaseUrl });
    await database.connect();
  });
  afterAll(() => database.end());

  async function expectNothingBehind(): Promise<void> {
    const property = decodeId("prop", api.propertyId, "property_id");
    const tables = [
      "event.events",
      "event.outbox",
      "event.dedupe_keys",
      "profile.profiles",
      "profile.identifiers",
      "profile.item_keys",
      "profile.outbox",
      "metric.metrics",
    ];
    for (const table of tables) {
      const { rows } = await database.query(`SELECT * FROM ${table} WHERE property_id = $1`, [property]);
      expect(rows, table).toEqual([]);
    }
  }

  function expectError(
    answer: Awaited<ReturnType<TestProperty["get"]>>,
    status: number,
    code: string,
    param: string | null,
  ): void {
    expect([answer.status, answer.body?.error?.code, answer.body?.error?.param]).toEqual([status, code, param]);
    expect(Object.keys(answer.body)).toEqual(["error"]);
    expect(answer.body.error).toMatchObject({
      type: expect.stringMatching(/^[a-z_]+$/),
      message: expect.stringMatching(/./),
      request_id: answer.headers.get("x-request-id"),
      retryable: false,
      retry_after_ms: null,
    });
    for (const name of ["service-version", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"]) {
      expect(answer.headers.get(name), name).not.toBeNull();
    }
  }

  describe("POST /v1/events", () => {
    test.each(eventCases)("%s", async (_name, body, status, code, param) => {
      expectError(await api.post("/v1/events", body), status, code, param);
      await expectNothingBehind();
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

    test("100,000 unknown fields are refused, 20 of them named", async () => {
      const fields = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`f${index}`, 1]));
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
      await expectNothingBehind();
    });
  });

  describe("POST /v1/profiles", () => {
    test.each(profileCases)("%s", async (_name, body, status, code, param) => {
      expectError(await api.post("/v1/profiles", body), status, code, param);
      await expectNothingBehind();
    });
  });

  describe("POST /v1/profiles/upsert", () => {
    const email = [{ type: "email", value: "ada@example.com" }];
    const withIdentifiers = (body: unknown): unknown =>
      typeof body === "string"
        ? body.replace("{", `{"identifiers":${JSON.stringify(email)},`)
        : { identifiers: email, ...(body as object) };
    const cases = [
      ...profileCases,
      ...guideCases,
      ...operationCases.map(([name, body, ...refusal]): Case => [name, withIdentifiers(body), ...refusal]),
    ];
    test.each(cases)("%s", async (_name, body, status, code, param) => {
      expectError(await api.post("/v1/profiles/upsert", body), status, code, param);
      await expectNothingBehind();
    });

    test("every field at fault is listed, the first on top", async () => {
      const { body } = await api.post("/v1/profiles/upsert", {
        identifiers: [{ type: "email", value: "nobody" }, ...email, { type: "phone", value: "1" }, ...email],
        attribute_operations: [
          { op: "set", path: "a" },
          { op: "set", path: "a", value: 1 },
          { op: "set", path: ["b", "\0"], value: 1 },
        ],
        location: { country: "ZZ", timezone: "x", zip: "1".repeat(33) },
      });
      expect(body.error.errors.map(({ code, param }: { code: string; param: string }) => [code, param])).toEqual([
        ["parameter_invalid", "identifiers.0.value"],
        ["parameter_invalid", "identifiers.2.value"],
        ["parameter_invalid", "identifiers.3"],
        ["parameter_missing", "attribute_operations.0.value"],
        ["parameter_invalid", "attribute_operations.2.path"],
        ["parameter_invalid", "location.country"],
        ["parameter_invalid", "location.timezone"],
        ["parameter_invalid", "location.zip"],
      ]);
      expect(body.error).toMatchObject({ code: "parameter_invalid", param: "identifiers.0.value" });
    });
  });

  test("faults within attributes are listed each, and of what is wrong in itself it is said once", async () => {
    const params = async (path: string, body: unknown, method: "post" | "patch" = "post"): Promise<string[]> => {
      const answer = await api[method](path, body);
      expect(answer.status).toBe(400);
      const { error } = answer.body;
      return (error.errors ?? [error]).map(({ param }: { param: string }) => param);
    };
    const identifiers = [{ type: "email", value: "ada@example.com" }];
    expect(await params("/v1/profiles", { identifiers, attributes: { a: "\0", b: { c: "\0" }, d: 1 } })).toEqual([
      "attributes.a",
      "attributes.b.c",
    ]);
    const location = { city: 1 };
    expect(await params(`/v1/profiles/${profileId}`, { attributes: { a: 1 }, location }, "patch")).toEqual([
      "location.city",
    ]);
    expect(await params(`/v1/profiles/${profileId}/identifiers`, { type: "X", value: "" })).toEqual(["type", "value"]);
  });

  describe("POST /v1/profiles/batch", () => {
    const item = { identifiers: [{ type: "email", value: "ada@example.com" }] };
    const cases: Case[] = [
      ["no profiles", {}, 400, "parameter_missing", "profiles"],
      ["an empty batch", { profiles: [] }, 400, "parameter_missing", "profiles"],
      ["101 profiles", { profiles: Array.from({ length: 101 }, () => item) }, 400, "too_many_items", "profiles"],
      ["an unknown field", { profiles: [item], backfill: true }, 400, "parameter_unknown", "backfill"],
    ];
    test.each(cases)("%s", async (_name, body, status, code, param) => {
      expectError(await api.post("/v1/profiles/batch", body), status, code, param);
      await expectNothingBehind();
    });

    test("If-Match", async () => {
      const headers = { "if-match": '"v1"' };
      expectError(
        await api.post("/v1/profiles/batch", { profiles: [item] }, { headers }),
        400,
        "parameter_invalid",
        "If-Match",
      );
      await expectNothingBehind();
    });

    test("a value that is none of those there are", async () => {
      const message = async (body: object) => (await api.patch(`/v1/profiles/${profileId}`, body)).body.error.message;
      expect(await message({ attribute_operations: [{ op: "add", path: "a", value: 1 }] })).toBe(
        'This must be "set" or "delete" or "append_unique" or "remove".',
      );
    });

    test("items that are refused one by one", async () => {
      const profiles = [
        { ...item, idempotency_key: "two words" },
        { ...item, client_reference: "x".repeat(256) },
        { ...item, idempotency_key: "" },
        null,
      ];
      const { status, body } = await api.post("/v1/profiles/batch", { profiles });
      expect(status).toBe(200);
      expect(body.data.counts).toEqual({ succeeded: 0, failed: 4 });
      expect(body.data.results.map(({ error }: { error: { param: string } }) => error.param)).toEqual([
        "idempotency_key",
        "client_reference",
        "idempotency_key",
        null,
      ]);
      await expectNothingBehind();
    });
  });

  describe("writes to a profile", () => {
    let person: Person;
    let owner: TestProperty;
    beforeAll(async () => {
      owner = await daybook().newProperty();
      person = await newProfile(owner, { attributes: { kept: 1 } });
    });
    const expectUnchanged = async (): Promise<void> => {
      expect((await owner.get(person.path)).headers.get("etag")).toBe(person.etag);
    };

    test.each([...operationCases, ...updateCases])("an update with %s", async (_name, body, status, code, param) => {
      expectError(await owner.patch(person.path, body), status, code, param);
      await expectUnchanged();
    });

    test.each(["v1", "1", '"v1', "", '"v1" "v2"', "v1, v2", '"a"b"', "*,*", '"v1",', "x".repeat(2000)])(
      "an If-Match of %j",
      async (ifMatch) => {
        const headers = { "if-match": ifMatch };
        const answer = await owner.patch(person.path, { attributes: { a: 1 } }, { headers });
        // A header without content is as none at all to some clients, not to ours.
        expectError(answer, 400, "parameter_invalid", "If-Match");
        await expectUnchanged();
      },
    );

    const identifierCases: Case[] = [
      ["an empty body", {}, 400, "parameter_missing", "type"],
      ["no value", { type: "email" }, 400, "parameter_missing", "value"],
      ["a bad phone", { type: "phone", value: "123" }, 400, "parameter_invalid", "value"],
      ["a bad type", { type: "E-Mail", value: "a@b.c" }, 400, "parameter_invalid", "type"],
      [
        "an unknown field",
        { type: "email", value: "a@b.c", verified_at: null },
        400,
        "parameter_unknown",
        "verified_at",
      ],
      ["half a surrogate pair", '{"type":"card","value":"\\ud800"}', 400, "parameter_invalid", "value"],
    ];
    test.each(identifierCases)("an identifier with %s", async (_name, body, status, code, param) => {
      expectError(await owner.post(`${person.path}/identifiers`, body), status, code, param);
      await expectUnchanged();
    });

    test.each([
      ["false", { is_primary: false }, "parameter_invalid", "is_primary"],
      ["nothing", {}, "parameter_missing", "is_primary"],
      ["a value", { is_primary: true, value: "x" }, "parameter_unknown", "value"],
    ])("a change of an identifier to %s", async (_name, body, code, param) => {
      const path = `${person.path}/identifiers/${person.identifier_ids[0]}`;
      expectError(await owner.patch(path, body), 400, code, param);
      await expectUnchanged();
    });

    test("identifiers that are not there, or not ids", async () => {
      const unknown = `${person.path}/identifiers/idnt_01h00000000000000000000000`;
      expectError(await owner.get(unknown), 404, "resource_not_found", "identifier_id");
      expectError(await owner.patch(unknown, { is_primary: true }), 404, "resource_not_found", "identifier_id");
      expectError(await owner.delete(unknown), 404, "resource_not_found", "identifier_id");
      expectError(await owner.delete(`${person.path}/identifiers/${person.id}`), 400, "invalid_id", "identifier_id");
      const others = (await newProfile(owner)).identifier_ids[0];
      expectError(
        await owner.delete(`${person.path}/identifiers/${others}`),
        404,
        "resource_not_found",
        "identifier_id",
      );
    });

    test.each([
      ["nothing", {}, 400, "parameter_missing"],
      ["an event", { source_profile_id: "evt_01h00000000000000000000000" }, 400, "invalid_id"],
      ["nobody", { source_profile_id: profileId }, 404, "resource_not_found"],
    ])("a merge with %s", async (_name, body, status, code) => {
      expectError(await owner.post(`${person.path}/merge`, body), status, code, "source_profile_id");
      await expectUnchanged();
    });

    test("to a profile of another property, as to one that never was", async () => {
      const attempts = (who: TestProperty, path: string, id = "idnt_01h00000000000000000000000") => [
        who.get(path),
        who.get(`${path}?resolve=false`),
        who.patch(path, { attributes: { a: 1 } }),
        who.post(`${path}/merge`, { source_profile_id: profileId }),
        who.get(`${path}/identifiers`),
        who.post(`${path}/identifiers`, { type: "card", value: "1" }),
        who.patch(`${path}/identifiers/${id}`, { is_primary: true }),
        who.delete(`${path}/identifiers/${id}`),
      ];
      const stranger = await daybook().newProperty();
      const bodies = async (path: string, id?: string) =>
        (await Promise.all(attempts(stranger, path, id))).map(({ status, text }) => [
          status,
          text.replace(/req_[0-9a-z]{26}/, ""),
        ]);
      const theirs = await bodies(person.path, person.identifier_ids[0]);
      expect(theirs).toEqual(await bodies(`/v1/profiles/${profileId}`));
      expect(new Set(theirs.map(([status]) => status))).toEqual(new Set([404]));
      await expectUnchanged();
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

    test("a wrong method names the right ones", async () => {
      expect((await api.request("DELETE", "/v1/events")).headers.get("allow")).toBe("GET, HEAD, POST");
      expect((await api.request("DELETE", "/v1/metrics")).headers.get("allow")).toBe("GET, HEAD");
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
      await expectNothingBehind();
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
      await expectNothingBehind();
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
