/** Metrics that callers register and describe. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromConnectError } from "#shared/rpc/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { Answer } from "../support/api.ts";
import { describeEverywhere, testCall, type TestProperty } from "../support/daybook.ts";
import { newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";
import { expectError, expectNothingBehind } from "../support/refusals.ts";
import type { Case } from "./bad-events.cases.ts";

const unknownId = "mtr_01h00000000000000000000000";

const descriptionCases: Case[] = [
  ["an empty description", { description: "" }, 400, "parameter_invalid", "description"],
  ["a description of 1,001 characters", { description: "😀".repeat(1001) }, 400, "parameter_invalid", "description"],
  ["a description with U+0000", { description: "a\0" }, 400, "parameter_invalid", "description"],
  ["half a surrogate pair", '{"name":"a.b","description":"\\ud800"}', 400, "parameter_invalid", "description"],
  ["a description that is a number", { description: 1 }, 400, "parameter_invalid", "description"],
  ["a description that is a list", { description: ["a"] }, 400, "parameter_invalid", "description"],
  [
    "a number that a double does not hold",
    '{"name":"a.b","description":1e999}',
    400,
    "parameter_invalid",
    "description",
  ],
];

const createCases: Case[] = [
  ["nothing", "", 400, "invalid_json", null],
  ["no JSON", "{", 400, "invalid_json", null],
  ["a list", [], 400, "parameter_invalid", null],
  ["an empty body", {}, 400, "parameter_missing", "name"],
  ["an empty name", { name: "" }, 400, "invalid_event_type", "name"],
  ["a name that is null", { name: null }, 400, "parameter_invalid", "name"],
  ["a name that is a number", { name: 1 }, 400, "parameter_invalid", "name"],
  ["capitals", { name: "Order.completed" }, 400, "invalid_event_type", "name"],
  ["a space", { name: "order completed" }, 400, "invalid_event_type", "name"],
  ["an empty word", { name: "order..completed" }, 400, "invalid_event_type", "name"],
  ["a dot at the end", { name: "order_" }, 400, "invalid_event_type", "name"],
  ["six words", { name: "a.b.c_d.e.f" }, 400, "invalid_event_type", "name"],
  ["201 characters", { name: "a".repeat(201) }, 400, "invalid_event_type", "name"],
  ["a megabyte", { name: "a.".repeat(500_000) }, 400, "invalid_event_type", "name"],
  ["a name with U+0000", { name: "a\0" }, 400, "parameter_invalid", "name"],
  ["the platform's own", { name: "profile.created" }, 400, "reserved_event_type", "name"],
  ["the platform's own, with an underscore", { name: "sms_sent" }, 400, "reserved_event_type", "name"],
  ["an unknown field", { name: "a.b", source: "api" }, 400, "parameter_unknown", "source"],
  ...descriptionCases.map(([name, body, ...refusal]): Case => [
    name,
    typeof body === "string" ? body : { name: "a.b", ...(body as object) },
    ...refusal,
  ]),
];

const updateCases: Case[] = [
  ["no JSON", "null,", 400, "invalid_json", null],
  ["null", "null", 400, "parameter_invalid", null],
  ["nothing to write", {}, 400, "parameter_missing", "description"],
  ["a name", { name: "c.d", description: "x" }, 400, "parameter_unknown", "name"],
  ["a name alone", { name: "c.d" }, 400, "parameter_unknown", "name"],
  ...descriptionCases.map(([name, body, ...refusal]): Case => [
    name,
    typeof body === "string" ? body.replace('"name":"a.b",', "") : body,
    ...refusal,
  ]),
];

describeEverywhere("metrics by hand", (daybook) => {
  let database: pg.Client;
  beforeAll(async () => {
    database = new pg.Client({ connectionString: daybook().databaseUrl });
    await database.connect();
  });
  afterAll(() => database.end());

  const register = (api: TestProperty, name: string, description?: string): Promise<Answer> =>
    api.post("/v1/metrics", { name, ...(description === undefined ? {} : { description }) });
  const record = (api: TestProperty, type: string, properties: object): Promise<Answer> =>
    api.post("/v1/events", { type, identifier: { type: "external_id", value: "c-1" }, properties });

  /** Waits for a metric's first event, and gives it as it then is. */
  const firstSeen = (api: TestProperty, name: string): Promise<Answer["body"]> =>
    eventually(async () => {
      const [metric] = (await api.get(`/v1/metrics?filter[name]=${name}`)).body.data;
      return metric?.first_seen_at ? metric : undefined;
    });

  test("one registered is there before its first event, which finds it and leaves what was said of it", async () => {
    const api = await daybook().newProperty();
    const made = await register(api, "order_completed", "Paid, not only placed");
    expect(made.status).toBe(201);
    const { data } = made.body;
    expect(data).toEqual({
      id: expect.stringMatching(/^mtr_/),
      object: "metric",
      name: "order.completed",
      source: null,
      system: false,
      description: "Paid, not only placed",
      first_seen_at: null,
      schema: {},
    });
    expect(made.headers.get("location")).toBe(`/v1/metrics/${data.id}`);
    expect(made.headers.get("idempotency-replayed")).toBe("false");
    expect((await api.get(`/v1/metrics/${data.id}`)).body.data).toEqual(data);

    const event = await record(api, "order.completed", { total: 1, items: [{ sku: "x" }] });
    expect(event.status).toBe(201);
    expect(await firstSeen(api, "order.completed")).toEqual({
      ...data,
      source: "api",
      first_seen_at: event.body.data.received_at,
      schema: { items: "array", "items[].sku": "string", total: "number" },
    });
  });

  test("of fifty that register the same name at once, in whatever form, one does", async () => {
    const api = await daybook().newProperty();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => register(api, index % 2 === 0 ? "cart.updated" : "cart_updated")),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expectError(answer, 409, "metric_exists", "name");
      expect(answer.body.error.type).toBe("conflict");
    }
    expect((await api.get("/v1/metrics")).body.data).toHaveLength(1);
  });

  test("events of the type at the same time come to the same metric, whoever is faster", async () => {
    const api = await daybook().newProperty();
    const names = Array.from({ length: 20 }, (_, index) => `race.n${index}`);
    const [answers] = await Promise.all([
      Promise.all(names.map((name) => register(api, name, "by hand"))),
      Promise.all(names.map((name) => record(api, name, { a: 1 }))),
    ]);
    for (const [index, name] of names.entries()) {
      const metric = await firstSeen(api, name);
      const answer = answers[index];
      if (answer?.status === 201) {
        expect(metric).toMatchObject({ id: answer.body.data.id, description: "by hand", schema: { a: "number" } });
      } else {
        expect(answer?.body.error.code).toBe("metric_exists");
        expect(metric).toMatchObject({ description: null, schema: { a: "number" } });
      }
    }
    expect((await api.get("/v1/metrics")).body.data).toHaveLength(20);
  });

  test("one that an event made is there already, and another property's is not", async () => {
    const [api, other] = [await daybook().newProperty(), await daybook().newProperty()];
    await record(api, "page.viewed", {});
    await firstSeen(api, "page.viewed");
    expectError(await register(api, "page.viewed"), 409, "metric_exists", "name");
    expect((await register(other, "page.viewed")).status).toBe(201);
  });

  test("a property has 10,000 that were registered so, and events make more", async () => {
    const api = await daybook().newProperty();
    await register(api, "first.one");
    const property = decodeId("prop", api.propertyId, "property_id");
    await database.query("UPDATE metric.registrations SET count = 9998 WHERE property_id = $1", [property]);
    const answers = await Promise.all(["a.a", "b.b", "c.c", "d.d", "e.e"].map((name) => register(api, name)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    const refused = answers.find(({ status }) => status === 400);
    expect(refused?.body.error).toMatchObject({ code: "too_many_items", param: "name" });
    expect(refused?.body.error.message).toContain("10,000");
    // What is refused is not counted, and what is there already is said to be.
    expectError(await register(api, "first.one"), 409, "metric_exists", "name");
    const { rows } = await database.query("SELECT count FROM metric.registrations WHERE property_id = $1", [property]);
    expect(rows).toEqual([{ count: 10_000 }]);
    await record(api, "late.one", {});
    await firstSeen(api, "late.one");
  });

  test("a description is written, taken away, and of a thousand characters at most", async () => {
    const api = await daybook().newProperty();
    const { id } = (await register(api, "a.b")).body.data;
    const describeIt = (description: string | null): Promise<Answer> => api.patch(`/v1/metrics/${id}`, { description });
    for (const description of ["x", "😀".repeat(1000), " \n\u0001", null, "é"]) {
      const answer = await describeIt(description);
      expect([answer.status, answer.body.data.description]).toEqual([200, description]);
      expect(answer.headers.get("idempotency-replayed")).toBe("false");
      expect((await api.get(`/v1/metrics/${id.toUpperCase().replace("MTR", "mtr")}`)).body.data).toEqual(
        answer.body.data,
      );
    }
  });

  test("the platform's own metrics stay as they are", async () => {
    const api = await daybook().newProperty();
    await newProfile(api);
    const { id } = await firstSeen(api, "profile.created");
    const answer = await api.patch(`/v1/metrics/${id}`, { description: "mine" });
    expectError(answer, 422, "metric_read_only", "id");
    expect(answer.body.error.type).toBe("invalid_request");
    expect((await api.get(`/v1/metrics/${id}`)).body.data.description).toBeNull();
  });

  test("another property's metric reads as one that never was", async () => {
    const [api, other] = [await daybook().newProperty(), await daybook().newProperty()];
    const { id } = (await register(other, "a.b", "theirs")).body.data;
    const bytes = ({ text, headers }: Answer): string => text.replaceAll(headers.get("x-request-id") ?? "", "");
    const unknown = await api.patch(`/v1/metrics/${unknownId}`, { description: "x" });
    expectError(unknown, 404, "resource_not_found", "id");
    expect(bytes(await api.patch(`/v1/metrics/${id}`, { description: "x" }))).toBe(bytes(unknown));
    expect(bytes(await api.get(`/v1/metrics/${id}`))).toBe(bytes(unknown));
    expect((await other.get(`/v1/metrics/${id}`)).body.data.description).toBe("theirs");
  });

  describe("bad input", () => {
    let api: TestProperty;
    let path: string;
    let nobody: TestProperty;
    beforeAll(async () => {
      [api, nobody] = [await daybook().newProperty(), await daybook().newProperty()];
      path = `/v1/metrics/${(await register(api, "a.b", "as it was")).body.data.id}`;
    });

    test.each(createCases)("POST: %s", async (_name, body, status, code, param) => {
      expectError(await nobody.post("/v1/metrics", body), status, code, param);
      await expectNothingBehind(daybook(), nobody);
    });

    test.each(updateCases)("PATCH: %s", async (_name, body, status, code, param) => {
      expectError(await api.patch(path, body), status, code, param);
      expect((await api.get(path)).body.data.description).toBe("as it was");
    });

    test("a mistyped id, and parameters that there are not", async () => {
      const body = { description: "x" };
      expectError(await api.patch("/v1/metrics/mtr_1", body), 400, "invalid_id", "id");
      expectError(await api.patch(path.replace("mtr_", "evt_"), body), 400, "invalid_id", "id");
      expectError(await api.patch(`${path}?dry_run=1`, body), 400, "parameter_unknown", "dry_run");
      expectError(await nobody.post("/v1/metrics?expand=x", { name: "a.b" }), 400, "unsupported_expand", "expand");
      expectError(await api.request("PUT", path), 405, "method_not_allowed", null);
    });

    test("every field at fault is listed, the first on top", async () => {
      const { body } = await nobody.post("/v1/metrics", { name: "A", description: "" });
      expect(body.error).toMatchObject({ code: "invalid_event_type", param: "name" });
      expect(body.error.errors.map(({ param }: { param: string }) => param)).toEqual(["name", "description"]);
    });

    test("the service checks for itself", async () => {
      const { propertyId } = nobody;
      const { metrics } = daybook().clients;
      const codeOf = (call: Promise<unknown>): Promise<string> =>
        call.then(
          () => "none",
          (error: unknown) => fromConnectError(error).code,
        );
      const unknown = { propertyId, metricId: unknownId };
      expect(await codeOf(metrics.createMetric({ propertyId, name: "sms" }, testCall))).toBe("reserved_event_type");
      expect(await codeOf(metrics.updateMetric({ ...unknown, description: "\0" }, testCall))).toBe("parameter_invalid");
      expect(await codeOf(metrics.updateMetric(unknown, testCall))).toBe("resource_not_found");
    });
  });
});
