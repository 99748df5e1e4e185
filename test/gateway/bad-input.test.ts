/** Every bad input gets its own error with `param`, and leaves nothing behind. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeId } from "#shared/ids.ts";
import { createApi } from "../support/api.ts";
import { describeEverywhere, type TestProperty } from "../support/daybook.ts";

const good = {
  type: "order.completed",
  identifier: { type: "email", value: "ada@example.com" },
  properties: {},
};
const nested = (depth: number): string => '{"a":'.repeat(depth - 1) + "{}" + "}".repeat(depth - 1);
const withProperties = (json: string): string =>
  JSON.stringify({ ...good, properties: 0 }).replace('"properties":0', `"properties":${json}`);
const profileId = "prof_01h00000000000000000000000";

type Case = [name: string, body: unknown, status: number, code: string, param: string | null];

const eventCases: Case[] = [
  ["no type", { ...good, type: undefined }, 400, "parameter_missing", "type"],
  ["an empty type", { ...good, type: "" }, 400, "parameter_missing", "type"],
  ["no properties", { ...good, properties: undefined }, 400, "parameter_missing", "properties"],
  ["properties that are a list", { ...good, properties: [] }, 400, "parameter_invalid", "properties"],
  [
    "properties that are a number beyond a double",
    withProperties("12345678901234567890"),
    400,
    "parameter_invalid",
    "properties",
  ],
  ["an unknown field", { ...good, colour: "red" }, 400, "parameter_unknown", "colour"],
  [
    "an unknown field named __proto__",
    '{"type":"a.b","identifier":{"type":"email","value":"a@b.c"},"properties":{},"__proto__":{}}',
    400,
    "parameter_unknown",
    "__proto__",
  ],
  [
    "an unknown field within identifier",
    { ...good, identifier: { ...good.identifier, x: 1 } },
    400,
    "parameter_unknown",
    "identifier.x",
  ],
  ["neither profile_id nor identifier", { ...good, identifier: undefined }, 400, "parameter_missing", "profile_id"],
  ["both profile_id and identifier", { ...good, profile_id: profileId }, 400, "parameter_conflict", "identifier"],
  ["an upper-case type", { ...good, type: "Order.Completed" }, 400, "invalid_event_type", "type"],
  ["a type with an empty word", { ...good, type: "order..completed" }, 400, "invalid_event_type", "type"],
  ["a type with a trailing underscore", { ...good, type: "order_" }, 400, "invalid_event_type", "type"],
  ["a type of six words", { ...good, type: "a.b.c.d.e.f" }, 400, "invalid_event_type", "type"],
  ["a type of 201 characters", { ...good, type: "a".repeat(201) }, 400, "invalid_event_type", "type"],
  ["a type with a line break", { ...good, type: "order\n" }, 400, "invalid_event_type", "type"],
  ["a type in the namespace sms", { ...good, type: "sms.sent" }, 400, "reserved_event_type", "type"],
  [
    "a type in the namespace profile, with underscores",
    { ...good, type: "profile_created" },
    400,
    "reserved_event_type",
    "type",
  ],
  ["a value without a currency", { ...good, value: "1" }, 400, "parameter_missing", "currency"],
  ["a currency without a value", { ...good, currency: "EUR" }, 400, "parameter_missing", "value"],
  ["a value that is a number", { ...good, value: 1, currency: "EUR" }, 400, "parameter_invalid", "value"],
  ["a value with an exponent", { ...good, value: "1e3", currency: "EUR" }, 400, "parameter_invalid", "value"],
  ["a value of 19 digits", { ...good, value: "1".repeat(19), currency: "EUR" }, 400, "parameter_invalid", "value"],
  [
    "a value with 9 digits behind the point",
    { ...good, value: "0.123456789", currency: "EUR" },
    400,
    "parameter_invalid",
    "value",
  ],
  ["a currency of four letters", { ...good, value: "1", currency: "EURO" }, 400, "parameter_invalid", "currency"],
  ["a currency that is no letters", { ...good, value: "1", currency: "1€2" }, 400, "parameter_invalid", "currency"],
  [
    "a phone without a plus",
    { ...good, identifier: { type: "phone", value: "15550100123" } },
    400,
    "parameter_invalid",
    "identifier.value",
  ],
  [
    "a phone that starts with 0",
    { ...good, identifier: { type: "phone", value: "+0555010012" } },
    400,
    "parameter_invalid",
    "identifier.value",
  ],
  [
    "a phone of 16 digits",
    { ...good, identifier: { type: "phone", value: "+1234567890123456" } },
    400,
    "parameter_invalid",
    "identifier.value",
  ],
  [
    "a phone in other digits",
    { ...good, identifier: { type: "phone", value: "+١٢٣٤٥٦٧٨٩" } },
    400,
    "parameter_invalid",
    "identifier.value",
  ],
  [
    "an email without an at",
    { ...good, identifier: { type: "email", value: "ada" } },
    400,
    "parameter_invalid",
    "identifier.value",
  ],
  [
    "an empty identifier",
    { ...good, identifier: { type: "email", value: "" } },
    400,
    "parameter_invalid",
    "identifier.value",
  ],
  [
    "an identifier of blanks",
    { ...good, identifier: { type: "external_id", value: "  " } },
    400,
    "parameter_invalid",
    "identifier.value",
  ],
  [
    "an identifier of 256 characters",
    { ...good, identifier: { type: "external_id", value: "x".repeat(256) } },
    400,
    "parameter_invalid",
    "identifier.value",
  ],
  [
    "an identifier with U+0000",
    { ...good, identifier: { type: "external_id", value: "a\0b" } },
    400,
    "parameter_invalid",
    "identifier.value",
  ],
  [
    "an identifier of an unreal type",
    { ...good, identifier: { type: "E-Mail", value: "x" } },
    400,
    "parameter_invalid",
    "identifier.type",
  ],
  [
    "an identifier without a type",
    { ...good, identifier: { value: "x" } },
    400,
    "parameter_missing",
    "identifier.type",
  ],
  [
    "a profile_id of another kind",
    { ...good, identifier: undefined, profile_id: profileId.replace("prof", "evt") },
    400,
    "invalid_id",
    "profile_id",
  ],
  [
    "a profile_id of another alphabet",
    { ...good, identifier: undefined, profile_id: profileId.replace("h", "u") },
    400,
    "invalid_id",
    "profile_id",
  ],
  [
    "a profile_id that nobody has",
    { ...good, identifier: undefined, profile_id: profileId },
    404,
    "resource_not_found",
    "profile_id",
  ],
  [
    "a time without an offset",
    { ...good, occurred_at: "2026-05-01T12:00:00" },
    400,
    "parameter_invalid",
    "occurred_at",
  ],
  [
    "a day that does not exist",
    { ...good, occurred_at: "2026-02-30T12:00:00Z" },
    400,
    "parameter_invalid",
    "occurred_at",
  ],
  ["a time before 1970", { ...good, occurred_at: "1969-12-31T23:59:59Z" }, 400, "parameter_invalid", "occurred_at"],
  ["a time two years ahead", { ...good, occurred_at: "2100-01-01T00:00:00Z" }, 400, "parameter_invalid", "occurred_at"],
  ["a dedupe_id of 256 characters", { ...good, dedupe_id: "x".repeat(256) }, 400, "parameter_invalid", "dedupe_id"],
  ["an empty dedupe_id", { ...good, dedupe_id: "" }, 400, "parameter_invalid", "dedupe_id"],
  ["a dedupe_id with U+0000", { ...good, dedupe_id: "a\0" }, 400, "parameter_invalid", "dedupe_id"],
  ["properties with U+0000", { ...good, properties: { a: { b: "x\0y" } } }, 400, "parameter_invalid", "properties.a.b"],
  [
    "properties with a key that holds U+0000",
    { ...good, properties: { a: { "x\0y": 1 } } },
    400,
    "parameter_invalid",
    "properties.a",
  ],
  [
    "properties with half a surrogate pair",
    withProperties('{"a":["\\ud800"]}'),
    400,
    "parameter_invalid",
    "properties.a.0",
  ],
  ["properties 33 levels deep", withProperties(nested(33)), 400, "parameter_invalid", `properties${".a".repeat(32)}`],
  [
    "properties 1,000 levels deep",
    withProperties(nested(999)),
    400,
    "parameter_invalid",
    `properties${".a".repeat(32)}`,
  ],
  ["a body 100,000 levels deep", withProperties(nested(100_000)), 400, "invalid_json", null],
  ["a body of 300,000 values", `{"properties":[1e5${",0".repeat(300_000)}]}`, 400, "invalid_json", null],
  [
    "an identifier with half a surrogate pair",
    '{"type":"a.b","identifier":{"type":"external_id","value":"u\\ud800"},"properties":{}}',
    400,
    "parameter_invalid",
    "identifier.value",
  ],
  [
    "a dedupe_id with half a surrogate pair",
    '{"type":"a.b","identifier":{"type":"external_id","value":"u"},"properties":{},"dedupe_id":"\\udfff"}',
    400,
    "parameter_invalid",
    "dedupe_id",
  ],
  [
    "properties of 256 KiB and one byte",
    { ...good, properties: { a: "x".repeat(256 * 1024 - 7) } },
    400,
    "parameter_invalid",
    "properties",
  ],
  [
    "the guide's form without an identifier",
    { event_type: "a.b", profile: {}, properties: {} },
    400,
    "parameter_missing",
    "profile",
  ],
  [
    "the guide's form with two identifiers",
    { event_type: "a.b", profile: { email: "a@b.c", phone: "+15550100123" }, properties: {} },
    400,
    "parameter_conflict",
    "profile",
  ],
  [
    "the guide's form with a bad type",
    { event_type: "A", profile: { email: "a@b.c" }, properties: {} },
    400,
    "invalid_event_type",
    "event_type",
  ],
  [
    "the guide's form with a blank in its key",
    { event_type: "a.b", profile: { email: "a@b.c" }, properties: {}, idempotency_key: "a b" },
    400,
    "parameter_invalid",
    "idempotency_key",
  ],
  ["fields of both forms", { ...good, event_type: "a.b" }, 400, "parameter_conflict", "event_type"],
  ["broken JSON", '{"type":', 400, "invalid_json", null],
  ["JSON that is not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), 400, "invalid_json", null],
  ["a body that is a list", [good], 400, "parameter_invalid", null],
  ["a body that is a number", "1e999", 400, "parameter_invalid", null],
  ["an empty body", "", 400, "invalid_json", null],
  ["a body over 2 MB", `{"type":"${"x".repeat(2 * 1024 * 1024)}"}`, 413, "request_too_large", null],
];

const identifiers = [{ type: "email", value: "ada@example.com" }];
const upsertCases: Case[] = [
  [
    "a city with half a surrogate pair",
    '{"identifiers":[{"type":"email","value":"a@b.c"}],"location":{"city":"\\ud800"}}',
    400,
    "parameter_invalid",
    "location.city",
  ],
  [
    "101 identifiers in the guide's form",
    { identifiers: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`t${index}`, "x"])) },
    400,
    "parameter_invalid",
    "identifiers",
  ],
  ["no identifiers", {}, 400, "parameter_missing", "identifiers"],
  ["an empty list of identifiers", { identifiers: [] }, 400, "parameter_missing", "identifiers"],
  ["the guide's form without identifiers", { identifiers: {} }, 400, "parameter_missing", "identifiers"],
  [
    "the guide's form with a bad phone",
    { identifiers: { email: "a@b.c", phone: "123" } },
    400,
    "parameter_invalid",
    "identifiers.phone",
  ],
  [
    "the same identifier twice",
    { identifiers: [...identifiers, { type: "email", value: " ADA@example.com" }] },
    400,
    "parameter_invalid",
    "identifiers.1",
  ],
  [
    "two primaries of a type",
    { identifiers: ["a@b.c", "d@e.f"].map((value) => ({ type: "email", value, is_primary: true })) },
    400,
    "parameter_conflict",
    "identifiers.1.is_primary",
  ],
  ["an unknown field", { identifiers, tags: ["vip"] }, 400, "parameter_unknown", "tags"],
  ["attributes that are a list", { identifiers, attributes: [] }, 400, "parameter_invalid", "attributes"],
  ["attributes with U+0000", { identifiers, attributes: { a: "\0" } }, 400, "parameter_invalid", "attributes.a"],
  [
    "attributes of more than 256 KiB",
    { identifiers, attributes: { a: "x".repeat(256 * 1024) } },
    400,
    "parameter_invalid",
    "attributes",
  ],
  [
    "attributes 33 levels deep",
    `{"identifiers":[{"type":"email","value":"a@b.c"}],"attributes":${nested(33)}}`,
    400,
    "parameter_invalid",
    `attributes${".a".repeat(32)}`,
  ],
  ["an unreal country", { identifiers, location: { country: "ZZ" } }, 400, "parameter_invalid", "location.country"],
  [
    "a country in lower case",
    { identifiers, location: { country: "de" } },
    400,
    "parameter_invalid",
    "location.country",
  ],
  [
    "an unreal time zone",
    { identifiers, location: { timezone: "Europe/Atlantis" } },
    400,
    "parameter_invalid",
    "location.timezone",
  ],
  [
    "an offset for a time zone",
    { identifiers, location: { timezone: "+01:00" } },
    400,
    "parameter_invalid",
    "location.timezone",
  ],
  [
    "a zip of 33 characters",
    { identifiers, location: { zip: "1".repeat(33) } },
    400,
    "parameter_invalid",
    "location.zip",
  ],
  [
    "an unknown field of a location",
    { identifiers, location: { street: "x" } },
    400,
    "parameter_unknown",
    "location.street",
  ],
];

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

  describe("POST /v1/profiles/upsert", () => {
    test.each(upsertCases)("%s", async (_name, body, status, code, param) => {
      expectError(await api.post("/v1/profiles/upsert", body), status, code, param);
      await expectNothingBehind();
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
      expect((await api.request("DELETE", "/v1/events")).headers.get("allow")).toBe("POST");
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
      ["GET", `/v1/profiles/${profileId}`, "profiles:read"],
      ["GET", "/v1/metrics", "metrics:read"],
      ["GET", "/v1/metrics/mtr_01h00000000000000000000000", "metrics:read"],
    ])("%s %s needs %s", async (method, path, scope) => {
      const poor = await api.withScopes(["accounts:read"]);
      const body =
        method === "POST" ? { headers: { "content-type": "application/json" }, body: JSON.stringify(good) } : {};
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
