import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { describeEverywhere, testCall, type TestDaybook, type TestProperty } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

/** Waits until so many events of the property are counted, and gives the count by metric. */
function counted(daybook: TestDaybook, { propertyId }: TestProperty, total: number): Promise<Map<string, number>> {
  return eventually(async () => {
    const { metrics } = await daybook.clients.metrics.listMetrics({ propertyId, limit: 500 }, testCall);
    const counts = new Map(metrics.map(({ name, eventCount }) => [name, Number(eventCount)]));
    return [...counts.values()].reduce((sum, count) => sum + count, 0) >= total ? counts : undefined;
  });
}

const event = (type: string, properties: object): object => ({
  type,
  identifier: { type: "external_id", value: "c-1" },
  properties,
});

describeEverywhere("metrics", (daybook) => {
  test("the observed schema follows the events", async () => {
    const api = await daybook().newProperty();
    const events = [
      event("cart.updated", { a: { b: 1 }, items: [{ sku: "x" }, { sku: "y", deep: [{ z: true }] }], none: null }),
      event("cart.updated", {
        at: "2026-05-01T12:00:00Z",
        local: "2026-05-01T12:00:00",
        day: "2026-05-01",
        tags: ["x"],
      }),
      event("cart.updated", { mixed: 1, late: null }),
      event("cart.updated", { mixed: "one", late: false, __proto__x: 1 }),
    ];
    await api.post("/v1/events/batch", { events });
    await counted(daybook(), api, 4);
    const { body } = await api.get("/v1/metrics?filter[name]=cart.updated");
    expect(body.data).toHaveLength(1);
    expect(body.data[0].schema).toEqual({
      __proto__x: "number",
      a: "object",
      "a.b": "number",
      at: "timestamp",
      day: "string",
      items: "array",
      "items[].deep": "array",
      "items[].deep[].z": "boolean",
      "items[].sku": "string",
      late: "boolean",
      local: "timestamp",
      mixed: "mixed",
      tags: "array",
    });
    const read = await api.get(`/v1/metrics/${body.data[0].id}`);
    expect(read.body.data).toEqual(body.data[0]);
  });

  test("a schema has at most 500 paths", async () => {
    const api = await daybook().newProperty();
    const properties = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`p${index}`, index]));
    await api.post("/v1/events", event("wide.event", properties));
    await counted(daybook(), api, 1);
    const { body } = await api.get("/v1/metrics");
    expect(Object.keys(body.data[0].schema)).toHaveLength(500);
  });

  test("every event is counted once, however many requests race", async () => {
    const api = await daybook().newProperty();
    const types = ["one.a", "two.b", "three.c"];
    await Promise.all(
      Array.from({ length: 300 }, (_, index) => api.post("/v1/events", event(types[index % 3] ?? "", { index }))),
    );
    const counts = await counted(daybook(), api, 300);
    expect(counts).toEqual(new Map(types.map((type) => [type, 100])));
  });

  test("lists page by page, each metric once, while others are registered", async () => {
    const api = await daybook().newProperty();
    const names = Array.from({ length: 25 }, (_, index) => `page.n${index}`);
    await api.post("/v1/events/batch", { events: names.map((name) => event(name, {})) });
    await counted(daybook(), api, 25);
    const seen: string[] = [];
    let path = "/v1/metrics?page[limit]=10";
    for (let page = 1; ; page++) {
      const { body } = await api.get(path);
      expect(body.meta.page.limit).toBe(10);
      seen.push(...body.data.map(({ name }: { name: string }) => name));
      if (!body.meta.page.has_more) {
        expect(body.meta.page.next_cursor).toBeNull();
        break;
      }
      expect(body.meta.page.next_cursor).toMatch(/^cur_/);
      if (page === 1) {
        await api.post("/v1/events", event("page.late", {}));
        await counted(daybook(), api, 26);
      }
      path = `/v1/metrics?page[limit]=10&page[after]=${body.meta.page.next_cursor}`;
    }
    expect(seen.filter((name) => name !== "page.late").toSorted()).toEqual(names.toSorted());
  });

  test("a larger page than 500 grants 500", async () => {
    const api = await daybook().newProperty();
    expect((await api.get("/v1/metrics?page[limit]=501")).body.meta.page.limit).toBe(500);
    expect((await api.get("/v1/metrics")).body.meta.page.limit).toBe(50);
  });

  test("a cursor is bound to its property and its query", async () => {
    const api = await daybook().newProperty();
    const other = await daybook().newProperty();
    await api.post("/v1/events/batch", { events: [event("a.a", {}), event("b.b", {})] });
    await counted(daybook(), api, 2);
    const { next_cursor: cursor } = (await api.get("/v1/metrics?page[limit]=1")).body.meta.page;
    expect((await api.get(`/v1/metrics?page[limit]=1&page[after]=${cursor}`)).body.data).toHaveLength(1);
    const forged = `${cursor.slice(0, -1)}${cursor.endsWith("A") ? "B" : "A"}`;
    for (const answer of [
      await other.get(`/v1/metrics?page[after]=${cursor}`),
      await api.get(`/v1/metrics?filter[source]=api&page[after]=${cursor}`),
      await api.get(`/v1/metrics?page[after]=${forged}`),
    ]) {
      expect([answer.status, answer.body.error.code]).toEqual([400, "invalid_cursor"]);
    }
  });

  test("filters by name, source and system", async () => {
    const api = await daybook().newProperty();
    await api.post("/v1/events/batch", { events: [event("a.a", {}), event("b.b", {})] });
    await counted(daybook(), api, 2);
    const count = async (query: string): Promise<number> => (await api.get(`/v1/metrics?${query}`)).body.data.length;
    expect(await count("filter[name]=a.a")).toBe(1);
    expect(await count("filter[name]=c.c")).toBe(0);
    expect(await count("filter[source]=api")).toBe(2);
    expect(await count("filter[source]=sdk")).toBe(0);
    expect(await count("filter[system]=false&filter[source]=api")).toBe(2);
    expect(await count("filter[system]=true")).toBe(0);
  });

  test("the published examples of a tracking specification go in, and their metrics show their schema", async () => {
    const api = await daybook().newProperty();
    const lines = (await readFile("test/fixtures/tracked-events.jsonl", "utf8")).trim().split("\n");
    const samples = lines.map((line) => JSON.parse(line) as Sample);
    expect(samples).toHaveLength(89);
    const events = samples.map(({ name, properties, timestamp, userId }) => ({
      type: name.toLowerCase().split(" ").join("_"),
      properties,
      identifier: { type: "external_id", value: userId ?? "someone" },
      ...(timestamp === undefined ? {} : { occurred_at: timestamp }),
    }));
    const { body } = await api.post("/v1/events/batch", { events });
    const results = body.data.results as { status: number; error: { code: string; param: string } | null }[];
    // A name with a hyphen or a sixth word would be refused; these have none.
    expect(results.filter(({ status }) => status !== 201)).toEqual([]);

    const counts = await counted(daybook(), api, 89);
    const expected = new Map<string, { count: number; schema: Record<string, string> }>();
    for (const [index, sample] of samples.entries()) {
      const type = events[index]?.type.replaceAll("_", ".") ?? "";
      const entry = expected.get(type) ?? { count: 0, schema: {} };
      entry.count++;
      describeProperties(sample.properties, "", entry.schema);
      expected.set(type, entry);
    }
    expect(counts).toEqual(new Map([...expected].map(([type, { count }]) => [type, count])));
    const { data } = (await api.get("/v1/metrics?page[limit]=500")).body;
    const schemas = new Map(data.map(({ name, schema }: { name: string; schema: object }) => [name, schema]));
    expect(schemas).toEqual(new Map([...expected].map(([type, { schema }]) => [type, schema])));
  });
});

interface Sample {
  name: string;
  properties: Record<string, unknown>;
  timestamp?: string;
  userId?: string;
}

/** What the samples' properties look like, said a second time and more simply than the service does. */
function describeProperties(properties: object, prefix: string, schema: Record<string, string>): void {
  for (const [key, value] of Object.entries(properties) as [string, unknown][]) {
    if (value === null) continue;
    const path = prefix + key;
    const isTimestamp = typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value);
    const type = Array.isArray(value) ? "array" : isTimestamp ? "timestamp" : typeof value;
    schema[path] = schema[path] === undefined || schema[path] === type ? type : "mixed";
    const inside = Array.isArray(value) ? value : [value];
    for (const child of inside as unknown[]) {
      if (typeof child === "object" && child !== null) {
        describeProperties(child, Array.isArray(value) ? `${path}[].` : `${path}.`, schema);
      }
    }
  }
}
