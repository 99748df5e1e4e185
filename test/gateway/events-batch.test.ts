import { expect, test } from "vitest";
import { describeEverywhere } from "../support/daybook.ts";

const item = (index: number, more: object = {}): object => ({
  type: "item.viewed",
  identifier: { type: "email", value: `person${index % 7}@example.com` },
  properties: { index },
  client_reference: `ref-${index}`,
  ...more,
});

interface Result {
  status: number;
  client_reference: string | null;
  data: { id: string; object: string } | null;
  error: { type: string; code: string; message: string; param: string | null } | null;
}

describeEverywhere("POST /v1/events/batch", (daybook) => {
  test("records 1,000 events and answers them in order", async () => {
    const api = await daybook().newProperty();
    const events = Array.from({ length: 1000 }, (_, index) => item(index));
    const { status, headers, body } = await api.post("/v1/events/batch", { events });
    expect(status).toBe(200);
    expect(headers.get("idempotency-replayed")).toBe("false");
    expect(body.data.object).toBe("batch_result");
    expect(body.data.counts).toEqual({ succeeded: 1000, failed: 0 });
    const results = body.data.results as Result[];
    expect(results.map((result) => result.client_reference)).toEqual(events.map((_, index) => `ref-${index}`));
    for (const result of results) {
      expect(result).toMatchObject({ status: 201, data: { object: "event" }, error: null });
    }
    for (const index of [0, 499, 999]) {
      const read = await api.get(`/v1/events/${results[index]?.data?.id}`);
      expect(read.body.data.properties).toEqual({ index });
    }
  });

  test("bad items fail alone, with the reason", async () => {
    const api = await daybook().newProperty();
    const events = [
      item(0),
      item(1, { type: "sms.sent" }),
      item(2, { value: "1" }),
      "not an object",
      item(4, { identifier: { type: "phone", value: "0555" } }),
      item(5, { properties: { a: "\0" } }),
      item(6, { colour: "red" }),
      item(7, { identifier: undefined, profile_id: "prof_01h00000000000000000000000" }),
      item(8, { client_reference: undefined }),
      item(9, { idempotency_key: "with blank " }),
      item(10, { client_reference: "x".repeat(256) }),
    ];
    const { status, body } = await api.post("/v1/events/batch", { events });
    expect(status).toBe(200);
    expect(body.data.counts).toEqual({ succeeded: 2, failed: 9 });
    const seen = (body.data.results as Result[]).map(({ status: itemStatus, error, data }) => [
      itemStatus,
      error?.code ?? null,
      error?.param ?? null,
      data === null,
    ]);
    expect(seen).toEqual([
      [201, null, null, false],
      [400, "reserved_event_type", "type", true],
      [400, "parameter_missing", "currency", true],
      [400, "parameter_invalid", null, true],
      [400, "parameter_invalid", "identifier.value", true],
      [400, "parameter_invalid", "properties.a", true],
      [400, "parameter_unknown", "colour", true],
      [404, "resource_not_found", "profile_id", true],
      [201, null, null, false],
      [400, "parameter_invalid", "idempotency_key", true],
      [400, "parameter_invalid", "client_reference", true],
    ]);
    expect(body.data.results[8].client_reference).toBeNull();
    expect(body.data.results[1]).toEqual({
      status: 400,
      client_reference: "ref-1",
      data: null,
      error: { type: "invalid_request", code: "reserved_event_type", message: expect.any(String), param: "type" },
    });
  });

  test("items whose identifiers race to make one profile make one, and those of another batch the same", async () => {
    const api = await daybook().newProperty();
    const same = (index: number): object =>
      item(index, { identifier: { type: "email", value: index % 2 === 0 ? "New@Example.com" : " new@example.com" } });
    const events = Array.from({ length: 50 }, (_, index) => same(index));
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.post("/v1/events/batch", { events })));
    for (const { body } of answers) expect(body.data.counts).toEqual({ succeeded: 50, failed: 0 });
    const { data } = (await api.get("/v1/events?filter[type]=item.viewed&page[limit]=500")).body;
    expect(data).toHaveLength(400);
    expect(new Set(data.map((event: { profile_id: string }) => event.profile_id)).size).toBe(1);
    expect((await api.get("/v1/profiles")).body.data).toHaveLength(1);
  });

  test("a minus before nothing is none, and a leap second is the next minute", async () => {
    const api = await daybook().newProperty();
    const events = [
      item(0, { value: "-0.00", currency: "EUR" }),
      item(1, { occurred_at: "2016-12-31T23:59:60Z" }),
      item(2, { occurred_at: "2016-12-31T23:59:59" }),
    ];
    const { results } = (await api.post("/v1/events/batch", { events })).body.data;
    expect(results.map(({ status }: Result) => status)).toEqual([201, 201, 400]);
    expect(results[2].error).toMatchObject({ code: "parameter_invalid", param: "occurred_at" });
    const [zero, leap] = await Promise.all(
      results.slice(0, 2).map(async ({ data }: Result) => (await api.get(`/v1/events/${data?.id}`)).body.data),
    );
    expect(zero.value).toBe("0.00");
    expect(leap.occurred_at).toBe("2017-01-01T00:00:00.000000Z");
  });

  test("answers 200 also when every item failed", async () => {
    const api = await daybook().newProperty();
    const { status, body } = await api.post("/v1/events/batch", { events: [{}, {}] });
    expect(status).toBe(200);
    expect(body.data.counts).toEqual({ succeeded: 0, failed: 2 });
  });

  test.each([
    ["no events", {}, 400, "parameter_missing"],
    ["an empty list", { events: [] }, 400, "parameter_missing"],
    ["1,001 items", { events: Array.from({ length: 1001 }, (_, index) => item(index)) }, 400, "too_many_items"],
    ["events that are no list", { events: {} }, 400, "parameter_invalid"],
  ])("refuses %s", async (_name, batch, status, code) => {
    const api = await daybook().newProperty();
    const answer = await api.post("/v1/events/batch", batch);
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([status, code, "events"]);
  });

  test("refuses an unknown field and a backfill that is no boolean", async () => {
    const api = await daybook().newProperty();
    const unknown = await api.post("/v1/events/batch", { events: [item(0)], dry_run: true });
    expect(unknown.body.error).toMatchObject({ code: "parameter_unknown", param: "dry_run" });
    const backfill = await api.post("/v1/events/batch", { events: [item(0)], backfill: "yes" });
    expect(backfill.body.error).toMatchObject({ code: "parameter_invalid", param: "backfill" });
  });

  test("takes a body of 2 MB and refuses one byte more", async () => {
    const api = await daybook().newProperty();
    const start = '{"events":[{"type":"a.b","identifier":{"type":"external_id","value":"1"},"properties":{}}';
    const pad = (bytes: number): string => `${start}]${" ".repeat(bytes - start.length - 2)}}`;
    expect((await api.post("/v1/events/batch", pad(2 * 1024 * 1024))).status).toBe(200);
    const refused = await api.post("/v1/events/batch", pad(2 * 1024 * 1024 + 1));
    expect([refused.status, refused.body.error.code]).toEqual([413, "request_too_large"]);
  });

  test("the first of several items with one dedupe_id wins, within a batch and after it", async () => {
    const api = await daybook().newProperty();
    const events = [
      item(0, { dedupe_id: "d", type: "not a type" }),
      item(1, { dedupe_id: "d" }),
      item(2, { dedupe_id: "d" }),
      item(3, { dedupe_id: "e" }),
    ];
    const { body } = await api.post("/v1/events/batch", { events });
    const [bad, first, repeat, other] = body.data.results as Result[];
    expect([bad?.status, first?.status, repeat?.status, other?.status]).toEqual([400, 201, 200, 201]);
    expect(repeat?.data).toEqual(first?.data);
    expect(other?.data).not.toEqual(first?.data);
    const later = await api.post("/v1/events/batch", { events: [item(9, { dedupe_id: "d" })] });
    expect(later.body.data.results[0]).toMatchObject({ status: 200, data: first?.data });
  });

  test("an item with a new idempotency_key and a dedupe_id that was seen follows the first event with both", async () => {
    const api = await daybook().newProperty();
    const record = async (...events: object[]): Promise<Result[]> =>
      (await api.post("/v1/events/batch", { events })).body.data.results as Result[];
    const [first] = await record(item(0, { dedupe_id: "d" }));
    const both = item(1, { dedupe_id: "d", idempotency_key: "k" });
    const [second] = await record(both);
    expect(second).toMatchObject({ status: 200, data: first?.data });
    const [third] = await record(both);
    expect(third).toMatchObject({ status: 200, data: first?.data });
    const [fourth] = await record(item(2, { idempotency_key: "k" }));
    expect(fourth?.error).toMatchObject({
      type: "idempotency_error",
      code: "idempotency_key_reused",
      param: "idempotency_key",
    });
    expect(fourth?.status).toBe(409);
  });

  test("keys that lead to one another within a batch all lead to the first event", async () => {
    const api = await daybook().newProperty();
    const same = { client_reference: undefined };
    const events = [
      item(0, { ...same, dedupe_id: "d" }),
      item(1, { ...same, dedupe_id: "d", idempotency_key: "k" }),
      item(1, { ...same, dedupe_id: "e", idempotency_key: "k" }),
      item(1, { ...same, dedupe_id: "d", idempotency_key: "k" }),
      item(2, { ...same, dedupe_id: "f" }),
    ];
    const { body } = await api.post("/v1/events/batch", { events });
    const [first, second, third, fourth, fifth] = body.data.results as Result[];
    expect(first?.status).toBe(201);
    expect(second).toMatchObject({ status: 200, data: first?.data });
    expect(third).toMatchObject({ status: 409, error: { code: "idempotency_key_reused" } });
    expect(fourth).toMatchObject({ status: 200, data: first?.data });
    expect(fifth?.status).toBe(201);
    // The item that was refused holds nothing: its dedupe_id is free.
    const later = await api.post("/v1/events/batch", { events: [item(3, { dedupe_id: "e" })] });
    expect(later.body.data.results[0].status).toBe(201);
  });

  test("an item that is refused leaves its other key to the next", async () => {
    const api = await daybook().newProperty();
    const plain = { client_reference: undefined };
    const events = [
      item(1, { ...plain, idempotency_key: "i1" }),
      item(2, { ...plain, idempotency_key: "i1", dedupe_id: "d2" }),
      item(3, { ...plain, dedupe_id: "d2" }),
      item(4, plain),
    ];
    const { body } = await api.post("/v1/events/batch", { events });
    const statuses = (body.data.results as Result[]).map(({ status }) => status);
    expect(statuses).toEqual([201, 409, 201, 201]);
    const again = await api.post("/v1/events/batch", { events });
    const repeated = (again.body.data.results as Result[]).map(({ status }) => status);
    expect(repeated).toEqual([200, 409, 200, 201]);
  });

  test("batches with overlapping keys in any order race without failing, and each key has one event", async () => {
    const api = await daybook().newProperty();
    const shuffled = (seed: number) =>
      Array.from({ length: 40 }, (_, index) => (index * 7 + seed * 11) % 40).map((index) =>
        item(index, { dedupe_id: `d${index % 20}`, ...(index % 3 === 0 ? { idempotency_key: `k${index}` } : {}) }),
      );
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, seed) => api.post("/v1/events/batch", { events: shuffled(seed) })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const recorded = answers.flatMap(({ body }) =>
      (body.data.results as Result[]).filter(({ status }) => status === 201),
    );
    expect(recorded).toHaveLength(20);
    expect(new Set(recorded.map(({ data }) => data?.id)).size).toBe(20);
  });
});
