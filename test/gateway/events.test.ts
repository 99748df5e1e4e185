import { expect, test } from "vitest";
import { describeEverywhere } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

const order = {
  type: "order.completed",
  identifier: { type: "email", value: "ada@example.com" },
  properties: { order_id: "1001", items: [{ sku: "TEA-1", quantity: 2 }] },
  value: "49.90",
  currency: "eur",
  occurred_at: "2026-05-01T12:00:00.123456+02:00",
};

describeEverywhere("POST /v1/events", (daybook) => {
  test("records an event that can be read back with its profile and its metric", async () => {
    const api = await daybook().newProperty();
    const created = await api.post("/v1/events", order);

    expect(created.status).toBe(201);
    const event = created.body.data;
    expect(created.headers.get("location")).toBe(`/v1/events/${event.id}`);
    expect(created.headers.get("idempotency-replayed")).toBe("false");
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      object: "event",
      type: "order.completed",
      profile_id: expect.stringMatching(/^prof_/),
      properties: order.properties,
      value: "49.90",
      currency: "EUR",
      occurred_at: "2026-05-01T10:00:00.123456Z",
      received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      dedupe_id: null,
      source: "api",
    });
    expect(Object.keys(created.body)).toEqual(["data", "meta"]);
    expect(created.body.meta).toEqual({
      request_id: created.headers.get("x-request-id"),
      revision: "2026-11-01",
      livemode: false,
    });

    const read = await api.get(`/v1/events/${event.id}`);
    expect(read.status).toBe(200);
    expect(read.body.data).toEqual(event);

    const expanded = await eventually(async () => {
      const { body } = await api.get(`/v1/events/${event.id}?expand=profile,metric`);
      // The metric is there at once, and learns of the event a moment later.
      return body.data.metric?.source ? body.data : undefined;
    });
    expect(expanded.profile).toMatchObject({ id: event.profile_id, object: "profile", status: "active" });
    expect(expanded.metric).toEqual({
      id: expect.stringMatching(/^mtr_/),
      object: "metric",
      name: "order.completed",
      source: "api",
      system: false,
      description: null,
      first_seen_at: event.received_at,
      schema: { items: "array", "items[].quantity": "number", "items[].sku": "string", order_id: "string" },
    });
  });

  test("carries the headers of every response", async () => {
    const api = await daybook().newProperty();
    const { headers } = await api.post("/v1/events", order);
    expect(headers.get("x-request-id")).toMatch(/^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    expect(headers.get("service-version")).toBe("2026-11-01");
    expect(Number(headers.get("ratelimit-limit"))).toBeGreaterThan(0);
    expect(Number(headers.get("ratelimit-remaining"))).toBe(Number(headers.get("ratelimit-limit")) - 1);
    expect(Number(headers.get("ratelimit-reset"))).toBeGreaterThanOrEqual(0);
    expect(Number(headers.get("ratelimit-reset"))).toBeLessThanOrEqual(60);
  });

  test("occurred_at is received_at when it is not sent", async () => {
    const api = await daybook().newProperty();
    const { body } = await api.post("/v1/events", { ...order, occurred_at: undefined });
    expect(body.data.occurred_at).toBe(body.data.received_at);
  });

  test("takes the form of the getting-started guide", async () => {
    const api = await daybook().newProperty();
    const guide = {
      event_type: "order_completed",
      profile: { email: " Ada@Example.COM " },
      properties: { order_id: "1" },
      idempotency_key: "order-1",
    };
    const first = await api.post("/v1/events", guide);
    expect(first.status).toBe(201);
    expect(first.body.data.type).toBe("order.completed");

    const main = await api.post("/v1/events", order);
    expect(main.body.data.profile_id).toBe(first.body.data.profile_id);

    const again = await api.post("/v1/events", guide);
    expect(again.status).toBe(201);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body.data).toEqual(first.body.data);

    const other = await api.post("/v1/events", { ...guide, properties: { order_id: "2" } });
    expect(other.status).toBe(409);
    expect(other.body.error).toMatchObject({ type: "idempotency_error", code: "idempotency_key_reused" });
  });

  test("an email or phone that nobody has makes one profile, other identifiers stay anonymous", async () => {
    const api = await daybook().newProperty();
    const phone = { type: "phone", value: "+15550100123" };
    const [first, second] = [
      await api.post("/v1/events", { ...order, identifier: phone }),
      await api.post("/v1/events", { ...order, identifier: phone }),
    ];
    expect(first.body.data.profile_id).toMatch(/^prof_/);
    expect(second.body.data.profile_id).toBe(first.body.data.profile_id);
    const external = await api.post("/v1/events", { ...order, identifier: { type: "external_id", value: "c-1" } });
    expect(external.status).toBe(201);
    expect(external.body.data.profile_id).toBeNull();
  });

  test("a dedupe_id that was seen gives back the first event", async () => {
    const api = await daybook().newProperty();
    const first = await api.post("/v1/events", { ...order, dedupe_id: "d-1" });
    expect(first.status).toBe(201);
    const second = await api.post("/v1/events", { ...order, dedupe_id: "d-1", properties: { changed: true } });
    expect(second.status).toBe(200);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(second.body.data).toEqual(first.body.data);
    const elsewhere = await daybook().newProperty();
    expect((await elsewhere.post("/v1/events", { ...order, dedupe_id: "d-1" })).status).toBe(201);
  });

  test("two hundred requests with one dedupe_id, single and in batches, leave one event", async () => {
    const api = await daybook().newProperty();
    const ids = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const event = { ...order, dedupe_id: "d-1", properties: { index } };
        const { body } =
          index % 4 === 0
            ? await api.post("/v1/events/batch", { events: [event, { ...order, dedupe_id: `other${index}` }] })
            : await api.post("/v1/events", event);
        return index % 4 === 0 ? body.data.results[0].data.id : body.data.id;
      }),
    );
    expect(new Set(ids).size).toBe(1);
    const { data } = (await api.get("/v1/events?filter[source]=api&page[limit]=500")).body;
    expect(data.filter((event: { dedupe_id: string }) => event.dedupe_id === "d-1")).toHaveLength(1);
    expect(data).toHaveLength(1 + 50);
  });

  test("properties come back as they were sent: order of keys, numbers beyond a double, names of Object's own", async () => {
    const api = await daybook().newProperty();
    const properties =
      '{"z":12345678901234567890.123456789,"a":-0,"huge":1e999,"__proto__":{"polluted":true},"constructor":1,"ü":"\\ud83d\\ude00"}';
    const created = await api.post(
      "/v1/events",
      `{"type":"a.b","identifier":{"type":"email","value":"x@example.com"},"properties":${properties}}`,
    );
    expect(created.status).toBe(201);
    const read = await api.get(`/v1/events/${created.body.data.id}`);
    const stored = properties.replace("\\ud83d\\ude00", "😀");
    expect(created.text).toContain(`"properties":${stored}`);
    expect(read.text).toContain(`"properties":${stored}`);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("an event of another property is not found, like one that never was", async () => {
    const mine = await daybook().newProperty();
    const theirs = await daybook().newProperty();
    const { body } = await mine.post("/v1/events", order);
    const foreign = await theirs.get(`/v1/events/${body.data.id}`);
    const unknown = await theirs.get("/v1/events/evt_01h00000000000000000000000");
    expect(foreign.status).toBe(404);
    expect(foreign.text.replace(/req_\w+/, "")).toBe(unknown.text.replace(/req_\w+/, ""));
    const attached = await theirs.post("/v1/events", {
      ...order,
      identifier: undefined,
      profile_id: body.data.profile_id,
    });
    expect(attached.status).toBe(404);
    expect(attached.body.error).toMatchObject({ code: "resource_not_found", param: "profile_id" });
  });

  test("attaches an event to the profile named by its id, in either case", async () => {
    const api = await daybook().newProperty();
    const { body } = await api.post("/v1/events", order);
    const id = body.data.profile_id as string;
    const again = await api.post("/v1/events", { ...order, identifier: undefined, profile_id: id.toUpperCase() });
    expect(again.status).toBe(201);
    expect(again.body.data.profile_id).toBe(id);
    expect((await api.get(`/v1/events/${(again.body.data.id as string).toUpperCase()}`)).status).toBe(200);
  });
});
