/** What was observed of attributes and of event types. */
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { decodeId } from "#shared/values/ids.ts";
import type { Api } from "../support/api.ts";
import {
  describeEverywhere,
  describeOnMesh,
  testCall,
  type TestDaybook,
  type TestProperty,
} from "../support/daybook.ts";
import { newEmail, newProfile, type Person } from "../support/people.ts";
import { eventually } from "../support/processes.ts";
import { expectError } from "../support/refusals.ts";

interface Schema {
  resource: string;
  type: string | null;
  metric_id: string | null;
  schema: Record<string, string>;
}

/** What is answered of attributes. */
async function attributesOf(api: Api): Promise<Schema["schema"]> {
  const answer = await api.get("/v1/schemas?filter[resource]=profile");
  expect(answer.status).toBe(200);
  expect(answer.body.data).toEqual([
    { object: "schema", resource: "profile", type: null, metric_id: null, schema: expect.any(Object) },
  ]);
  return answer.body.data[0].schema;
}

const event = (type: string, properties: object = {}): object => ({
  type,
  identifier: { type: "external_id", value: "c-1" },
  properties,
});

/** Records events, and waits until the list shows so many schemas. */
async function record(api: TestProperty, events: readonly object[], total: number): Promise<Schema[]> {
  expect((await api.post("/v1/events/batch", { events })).body.data.counts.failed).toBe(0);
  return eventually(async () => {
    const { data } = (await api.get("/v1/schemas?page[limit]=500")).body;
    return data.length >= total ? data : undefined;
  });
}

const uuidOf = ({ propertyId }: TestProperty): string => decodeId("prop", propertyId, "property_id");

/** The database of a Daybook, in a suite. */
function openDatabase(daybook: () => TestDaybook) {
  let database: pg.Client;
  beforeAll(async () => {
    database = new pg.Client({ connectionString: daybook().databaseUrl });
    await database.connect();
  });
  afterAll(() => database.end());
  return {
    query: (text: string, values: unknown[] = []) => database.query(text, values),
    stored: async (api: TestProperty): Promise<object[]> =>
      (await database.query("SELECT schema FROM profile.attribute_schemas WHERE property_id = $1", [uuidOf(api)])).rows,
  };
}

describeEverywhere("schemas", (daybook) => {
  const database = openDatabase(daybook);
  const { stored } = database;

  test("a property without anything shows that it knows nothing of its profiles, and keeps nothing", async () => {
    const api = await daybook().newProperty();
    const { body } = await api.get("/v1/schemas");
    expect(body.data).toEqual([{ object: "schema", resource: "profile", type: null, metric_id: null, schema: {} }]);
    expect(body.meta.page).toEqual({ limit: 50, has_more: false, next_cursor: null });
    expect(await stored(api)).toEqual([]);
  });

  test("profiles come first, then each event type with its metric, the platform's own among them", async () => {
    const api = await daybook().newProperty();
    await newProfile(api, { attributes: { tier: "gold" } });
    const registered = (await api.post("/v1/metrics", { name: "not.yet.seen" })).body.data;
    const data = await record(api, [event("order.completed", { total: 1, items: [{ sku: "x" }] })], 4);
    const metrics = (await api.get("/v1/metrics")).body.data as { id: string; name: string; schema: object }[];
    expect(data).toEqual([
      { object: "schema", resource: "profile", type: null, metric_id: null, schema: { tier: "string" } },
      ...metrics.map(({ id, name, schema }) => ({
        object: "schema",
        resource: "event",
        type: name,
        metric_id: id,
        schema,
      })),
    ]);
    const schemas = new Map(data.map(({ type, schema }) => [type, schema]));
    expect(new Set(schemas.keys())).toEqual(new Set([null, "not.yet.seen", "order.completed", "profile.created"]));
    expect(schemas.get("order.completed")).toEqual({ items: "array", "items[].sku": "string", total: "number" });
    expect(schemas.get(registered.name)).toEqual({});
  });

  test("lists page by page, each once, while others come", async () => {
    const api = await daybook().newProperty();
    const types = Array.from({ length: 7 }, (_, index) => `page.n${index}`);
    await record(
      api,
      types.map((type) => event(type)),
      8,
    );
    for (const limit of [1, 2, 3, 7, 8]) {
      const seen: (string | null)[] = [];
      let query = "";
      for (let pages = 1; ; pages++) {
        const { body } = await api.get(`/v1/schemas?page[limit]=${limit}${query}`);
        seen.push(...body.data.map(({ type }: Schema) => type));
        expect(body.data.length).toBeLessThanOrEqual(limit);
        if (!body.meta.page.has_more) {
          expect(body.meta.page.next_cursor).toBeNull();
          expect(pages).toBe(Math.ceil(seen.length / limit));
          break;
        }
        expect(body.data).toHaveLength(limit);
        if (pages === 1) await api.post("/v1/metrics", { name: `page.late${limit}` });
        query = `&page[after]=${body.meta.page.next_cursor}`;
      }
      expect(seen[0]).toBeNull();
      const known = seen.filter((type) => type !== null && !type.startsWith("page.late"));
      expect(new Set(known)).toEqual(new Set(types));
      expect(new Set(seen).size).toBe(seen.length);
    }
    const granted = (await api.get("/v1/schemas?page[limit]=501")).body.meta.page;
    expect(granted).toEqual({ limit: 500, has_more: false, next_cursor: null });
  });

  test("filters by resource, and a cursor is bound to its property and its query", async () => {
    const api = await daybook().newProperty();
    const other = await daybook().newProperty();
    await record(api, [event("a.a"), event("b.b")], 3);
    const types = async (query: string): Promise<unknown> =>
      (await api.get(`/v1/schemas?${query}`)).body.data.map(({ resource, type }: Schema) => type ?? resource);
    expect(await types("filter[resource]=profile&page[limit]=1")).toEqual(["profile"]);
    expect(await types("filter[resource]=event")).toHaveLength(2);
    const first = (await api.get("/v1/schemas?filter[resource]=event&page[limit]=1")).body;
    expect(first.data).toHaveLength(1);
    const { next_cursor: cursor } = first.meta.page;
    const rest = (await api.get(`/v1/schemas?filter[resource]=event&page[limit]=1&page[after]=${cursor}`)).body;
    expect(rest.meta.page.has_more).toBe(false);
    expect(new Set([...first.data, ...rest.data].map(({ type }: Schema) => type))).toEqual(new Set(["a.a", "b.b"]));
    const ofMetrics = (await api.get("/v1/metrics?page[limit]=1")).body.meta.page.next_cursor;
    for (const answer of [
      await other.get(`/v1/schemas?filter[resource]=event&page[after]=${cursor}`),
      await api.get(`/v1/schemas?page[after]=${cursor}`),
      await api.get(`/v1/schemas?filter[resource]=profile&page[after]=${cursor}`),
      await api.get(`/v1/schemas?page[after]=${ofMetrics}`),
    ]) {
      expectError(answer, 400, "invalid_cursor", "page[after]");
    }
  });

  test("needs accounts:read, and no more", async () => {
    const api = await daybook().newProperty();
    const reader = await api.withScopes(["accounts:read"]);
    expect(await attributesOf(reader)).toEqual({});
    const answer = await (await api.withScopes(["metrics:read", "profiles:read"])).get("/v1/schemas");
    expectError(answer, 403, "missing_scope", null);
    expect(answer.body.error.message).toContain("accounts:read");
  });

  test("attributes are learned from every way to write them, before the answer", async () => {
    const api = await daybook().newProperty();
    const email = newEmail();
    const person = await newProfile(api, {
      identifiers: [email],
      attributes: { a: { b: 1 }, items: [{ sku: "x" }], none: null },
    });
    let expected: Record<string, string> = { a: "object", "a.b": "number", items: "array", "items[].sku": "string" };
    expect(await attributesOf(api)).toEqual(expected);
    const learns = async (write: Promise<{ status: number }>, news: Record<string, string>): Promise<void> => {
      expect([200, 201]).toContain((await write).status);
      expected = { ...expected, ...news };
      expect(await attributesOf(api)).toEqual(expected);
    };
    await learns(
      api.post("/v1/profiles/upsert", { identifiers: [email], attributes: { since: "2026-05-01T12:00:00Z" } }),
      {
        since: "timestamp",
      },
    );
    await learns(
      api.post("/v1/profiles/upsert", {
        identifiers: [newEmail()],
        attribute_operations: [{ op: "set", path: ["deep", "er"], value: true }],
      }),
      { deep: "object", "deep.er": "boolean" },
    );
    await learns(
      api.post("/v1/profiles/upsert", { identifiers: { email: newEmail().value }, attributes: { guide: "x" } }),
      { guide: "string" },
    );
    await learns(
      api.post("/v1/profiles/batch", {
        profiles: [
          { identifiers: [newEmail()], attributes: { one: 1 } },
          { identifiers: [newEmail()], attributes: { two: 2 }, idempotency_key: "k" },
          { identifiers: [], attributes: { refused: 1 } },
          { identifiers: [email], attributes: { three: 3 } },
        ],
      }),
      { one: "number", two: "number", three: "number" },
    );
    await learns(api.patch(person.path, { attributes: { patched: [1] } }), { patched: "array" });
    await learns(
      api.patch(person.path, { attribute_operations: [{ op: "append_unique", path: "list", value: { c: 1 } }] }),
      {
        list: "array",
        "list[].c": "number",
      },
    );
    // Conflicting types are mixed for good; null teaches nothing, and what goes is still known.
    await learns(api.patch(person.path, { attributes: { patched: "x", since: null, one: 1e300 } }), {
      patched: "mixed",
    });
    await learns(api.patch(person.path, { attribute_operations: [{ op: "delete", path: "a" }] }), {});
    await learns(api.patch(person.path, '{"attributes":{"big":123456789012345678901234567890}}'), { big: "number" });
    const other = await newProfile(api, { attributes: { three: "x" } });
    await learns(api.post(`${person.path}/merge`, { source_profile_id: other.id }), { three: "mixed" });
    // What is refused teaches nothing.
    await api.post("/v1/profiles", { identifiers: [email], attributes: { taken: 1 } });
    await api.patch(person.path, { attributes: { stale: 1 } }, { headers: { "if-match": '"v1"' } });
    expect(await attributesOf(api)).toEqual(expected);
    expect(await stored(api)).toEqual([{ schema: expected }]);
  });

  test("a key named __proto__ is one like any other", async () => {
    const api = await daybook().newProperty();
    const body = `{"identifiers":[${JSON.stringify(newEmail())}],"attributes":{"__proto__":{"constructor":1}}}`;
    expect((await api.post("/v1/profiles", body)).status).toBe(201);
    const { text } = await api.get("/v1/schemas?filter[resource]=profile");
    expect(text).toContain('"schema":{"__proto__":"object","__proto__.constructor":"number"}');
  });

  test("at most 500 paths are kept, and no more is written when they are full", async () => {
    const api = await daybook().newProperty();
    const wide = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`p${index}`, index]));
    const person = await newProfile(api, { attributes: wide });
    expect(Object.keys(await attributesOf(api))).toHaveLength(500);
    const version = async (): Promise<unknown> =>
      (await database.query("SELECT xmin::text FROM profile.attribute_schemas WHERE property_id = $1", [uuidOf(api)]))
        .rows;
    const before = await version();
    await api.patch(person.path, { attributes: { more: 1, p0: 7 } });
    expect(await version()).toEqual(before);
    await api.patch(person.path, { attributes: { p0: "x" } });
    expect(await attributesOf(api)).toMatchObject({ p0: "mixed", p1: "number" });
  });

  test("however many writes race, no path is lost", async () => {
    const api = await daybook().newProperty();
    const person = await newProfile(api);
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, index) => {
        const attributes = { [`k${index}`]: index, shared: index % 2 === 0 ? 1 : "x" };
        if (index % 3 === 0) return api.patch(person.path, { attributes });
        if (index % 3 === 1) return api.post("/v1/profiles", { identifiers: [newEmail()], attributes });
        return api.post("/v1/profiles/upsert", { identifiers: [newEmail()], attributes });
      }),
    );
    expect(answers.filter(({ status }) => status >= 300)).toEqual([]);
    const wanted = Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`k${index}`, "number"]));
    // A write does not wait for long to be learned from.
    await eventually(async () => (Object.keys(await attributesOf(api)).length === 121 ? true : undefined));
    expect(await attributesOf(api)).toEqual({ ...wanted, shared: "mixed" });
  });

  test("a write does not fail when its attributes cannot be learned, and its like is learned later", async () => {
    const api = await daybook().newProperty();
    let person: Person;
    const constraint = `refuses_${uuidOf(api).replaceAll("-", "")}`;
    await database.query(
      `ALTER TABLE profile.attribute_schemas ADD CONSTRAINT ${constraint} CHECK (property_id <> '${uuidOf(api)}')`,
    );
    try {
      person = await newProfile(api, { attributes: { a: 1 } });
    } finally {
      await database.query(`ALTER TABLE profile.attribute_schemas DROP CONSTRAINT ${constraint}`);
    }
    expect(await stored(api)).toEqual([]);
    await api.patch(person.path, { attributes: { b: 1 } });
    expect(await stored(api)).toMatchObject([{ schema: { a: "number", b: "number" } }]);
  });

  test("with a redaction goes what only that profile had, and what others have stays", async () => {
    const api = await daybook().newProperty();
    const person = await newProfile(api, {
      attributes: { tier: "gold", ada: { of: [{ london: 1 }] }, shared: { x: 1 } },
    });
    await newProfile(api, { attributes: { tier: 1, shared: { y: 1 } } });
    await daybook().clients.profiles.redactProfile({ propertyId: api.propertyId, profileId: person.id }, testCall);
    const left = { tier: "mixed", shared: "object", "shared.y": "number" };
    expect(await attributesOf(api)).toEqual(left);
    // It may be learned again, of somebody else.
    await newProfile(api, { attributes: { ada: "x" } });
    expect(await attributesOf(api)).toEqual({ ...left, ada: "string" });
  });

  test("properties know nothing of each other's", async () => {
    const [api, other] = [await daybook().newProperty(), await daybook().newProperty()];
    await newProfile(api, { attributes: { mine: 1 } });
    await newProfile(other, { attributes: { theirs: 1 } });
    expect(await attributesOf(api)).toEqual({ mine: "number" });
    expect(await attributesOf(other)).toEqual({ theirs: "number" });
    const { schemaJson } = await daybook().clients.profiles.getAttributeSchema(
      { propertyId: api.propertyId },
      testCall,
    );
    expect(schemaJson).toBe('{"mine":"number"}');
  });
});

// With several processes, another may have learned what is known.
describeOnMesh("what a process has learned", (daybook) => {
  const database = openDatabase(daybook);
  const { stored } = database;

  test("a write is answered also while it cannot be learned from, and is learned from later", async () => {
    const api = await daybook().newProperty();
    const person = await newProfile(api, { attributes: { a: 1 } });
    await database.query("BEGIN");
    try {
      await database.query("SELECT FROM profile.attribute_schemas WHERE property_id = $1 FOR UPDATE", [uuidOf(api)]);
      // What is known costs no statement, and so does not wait.
      const isQuick = async (attributes: object): Promise<boolean> => {
        const start = performance.now();
        expect((await api.patch(person.path, { attributes })).status).toBe(200);
        return performance.now() - start < 1500;
      };
      expect(await isQuick({ a: 2 })).toBe(true);
      expect(await isQuick({ b: 1 })).toBe(false);
      expect(await stored(api)).toMatchObject([{ schema: { a: "number" } }]);
      // Whoever comes next does not wait again.
      expect(await isQuick({ c: 1 })).toBe(true);
    } finally {
      await database.query("ROLLBACK");
    }
    await eventually(async () => ((await attributesOf(api)).c === "number" ? true : undefined));
    expect(await attributesOf(api)).toEqual({ a: "number", b: "number", c: "number" });
  });
});
