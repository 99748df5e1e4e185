import fc from "fast-check";
import { expect, test } from "vitest";
import { mergeSchema, observe, pathsMax, teaches, type ObservedSchema } from "./observed-schema.ts";

function schemaOf(...properties: object[]): ObservedSchema {
  const schema: ObservedSchema = new Map();
  for (const one of properties) observe(schema, one);
  return schema;
}

const objects = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.jsonValue({ maxDepth: 4 }));

test("the order in which objects come does not matter", () => {
  fc.assert(
    fc.property(fc.array(objects, { maxLength: 8 }), fc.nat(8), (events, cut) => {
      const whole = schemaOf(...events);
      fc.pre(whole.size < pathsMax);
      const merged = schemaOf(...events.slice(cut).toReversed());
      mergeSchema(merged, schemaOf(...events.slice(0, cut)));
      expect(sorted(merged)).toEqual(sorted(whole));
      // Known types change nothing.
      mergeSchema(merged, whole);
      expect(sorted(merged)).toEqual(sorted(whole));
    }),
  );
});

function sorted(schema: ObservedSchema): [string, string][] {
  return [...schema].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

test("what would change nothing is known beforehand, also where no more fits in", () => {
  const full = schemaOf(Object.fromEntries(Array.from({ length: pathsMax - 2 }, (_, index) => [`p${index}`, index])));
  fc.assert(
    fc.property(fc.array(objects, { maxLength: 4 }), objects, fc.boolean(), (known, object, isFull) => {
      const schema = schemaOf(...known);
      if (isFull) mergeSchema(schema, full);
      const before = sorted(schema);
      const other = schemaOf(object);
      const isNew = teaches(schema, other);
      mergeSchema(schema, other);
      expect(isNew).toBe(JSON.stringify(sorted(schema)) !== JSON.stringify(before));
    }),
  );
});

test("names each kind of value", () => {
  const schema = schemaOf({
    text: "x",
    number: 1,
    flag: false,
    at: "2026-05-01T12:00:00.5+02:00",
    day: "2026-05-01",
    list: [1, "x"],
    rows: [{ id: 1 }, { id: "x" }],
    grid: [[{ x: 1 }]],
    inner: { deep: { er: null } },
    nothing: null,
    ["__proto__"]: 1,
  });
  expect(Object.fromEntries(schema)).toEqual({
    text: "string",
    number: "number",
    flag: "boolean",
    at: "timestamp",
    day: "string",
    list: "array",
    rows: "array",
    "rows[].id": "mixed",
    grid: "array",
    "grid[][].x": "number",
    inner: "object",
    "inner.deep": "object",
    ["__proto__"]: "number",
  });
});

test("keeps at most 500 paths of at most 255 characters, 32 KiB together", () => {
  const many = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`p${index}`, 1]));
  const schema = schemaOf(many);
  expect(schema.size).toBe(pathsMax);
  observe(schema, { p0: "x" });
  expect(schema.get("p0")).toBe("mixed");
  expect(schemaOf({ ["x".repeat(256)]: 1, ["y".repeat(255)]: 1 }).size).toBe(1);
  const long = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`${index}`.padStart(200, "x"), 1]));
  expect(schemaOf(long).size).toBe(163);
});

// Joining and looking up every path below it would outlast the run: 11,000 paths of 120,000 characters.
test("what lies below a key that is too long is passed over", () => {
  const below = Object.fromEntries(Array.from({ length: 11_000 }, (_, index) => [`a${index}`, 1]));
  expect(schemaOf({ ["k".repeat(120_000)]: below, ok: 1 })).toEqual(new Map([["ok", "number"]]));
});

test("what there is no room for costs no more than its size", () => {
  // Fewer than 500 paths fill the 32 KiB. Without a cached sum, each further one would be compared with all of them.
  const schema = schemaOf(
    Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`${index}`.padStart(90, "x"), 1])),
  );
  const many = Object.fromEntries(Array.from({ length: 400_000 }, (_, index) => [`${index}`.padStart(60, "y"), 1]));
  const before = process.cpuUsage();
  observe(schema, many);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(2_000);
});
