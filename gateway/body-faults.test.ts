import fc from "fast-check";
import type Type from "typebox";
import { Compile } from "typebox/compile";
import { describe, expect, test } from "vitest";
import { fieldErrorsMax } from "#shared/values/errors.ts";
import { findBodyFaults } from "./body-faults.ts";
import { MetricAggregateCreate, MetricCreate } from "./native/metric-schemas.ts";
import * as schemas from "./native/schemas.ts";
import { nearestName } from "./unknown-fields.ts";

const email = { type: "email", value: "ada@example.com" };
const good: readonly [string, Type.TSchema, object][] = [
  [
    "an event",
    schemas.EventCreate,
    { type: "a.b", identifier: email, properties: { a: [1] }, value: "1.5", currency: "EUR", dedupe_id: "x" },
  ],
  [
    "an event of the guide",
    schemas.GuideEventCreate,
    { event_type: "a", profile: { email: email.value }, properties: {} },
  ],
  [
    "an upsert",
    schemas.ProfileUpsert,
    {
      identifiers: [email, { type: "card", value: "1", is_primary: true }],
      attribute_operations: [
        { op: "set", path: ["a", "b"], value: { c: 1 } },
        { op: "delete", path: "d" },
      ],
      location: { city: "Lisbon", country: "PT", zip: null },
    },
  ],
  ["an update", schemas.ProfileUpdate, { attributes: { a: 1 }, location: null }],
  ["a metric", MetricCreate, { name: "a.b", description: "x" }],
  [
    "a question",
    MetricAggregateCreate,
    {
      metric: "a.b",
      measurements: ["count"],
      interval: "day",
      from: "2026-01-01T00:00:00Z",
      to: "2026-01-02T00:00:00Z",
      group_by: ["source"],
      filter: { currency: "EUR" },
    },
  ],
];

/** Paths to every value within a value, as keys and indexes. */
function placesOf(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [[]];
  return [[], ...Object.entries(value).flatMap(([key, child]) => placesOf(child).map((place) => [key, ...place]))];
}

/** A copy with another value at a path; undefined removes the value. */
function withValue(value: unknown, [key, ...rest]: readonly string[], other: unknown): unknown {
  if (key === undefined) return other;
  const copy = structuredClone(value) as Record<string, unknown>;
  const child = withValue(copy[key], rest, other);
  if (child === undefined && !Array.isArray(copy)) delete copy[key];
  else copy[key] = child;
  return copy;
}

describe.each(good)("%s", (_name, schema, body) => {
  test("has no fault", () => {
    expect(findBodyFaults(schema, body)).toEqual([]);
  });

  test("is never taken when its schema does not, whatever is changed in it", () => {
    const validator = Compile(schema);
    fc.assert(
      fc.property(fc.constantFrom(...placesOf(body)), fc.option(fc.jsonValue({ maxDepth: 2 })), (place, other) => {
        const changed = withValue(body, place, other ?? undefined);
        expect(findBodyFaults(schema, changed).length > 0 || validator.Check(changed)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe("what is large costs no more than it takes to see that it is", () => {
  const cpuMsMax = 1000;
  const many = (length: number, item: unknown): unknown[] => Array.from({ length }, () => item);
  const text = (length: number): string => "x".repeat(length);
  const cases: [string, Type.TSchema, unknown][] = [
    ["60,000 operations", schemas.ProfileUpsert, { identifiers: [email], attribute_operations: many(60_000, {}) }],
    ["100,000 identifiers", schemas.ProfileUpsert, { identifiers: many(100_000, email) }],
    [
      "100,000 identifiers by type",
      schemas.GuideProfileUpsert,
      { identifiers: Object.fromEntries(many(100_000, "x").map((value, index) => [`t${index}`, value])) },
    ],
    [
      "300,000 unknown fields",
      schemas.EventCreate,
      Object.fromEntries(many(300_000, 1).map((value, index) => [`k${index}`, value])),
    ],
    [
      "20 unknown fields of 100 KB",
      schemas.EventCreate,
      Object.fromEntries(many(20, 1).map((value, index) => [index + text(100_000), value])),
    ],
    [
      "a list of 250,000 properties",
      schemas.EventCreate,
      { type: "a", identifier: email, properties: { a: many(250_000, 1) } },
    ],
    [
      "texts of 1 MB in every field",
      schemas.EventCreate,
      {
        type: text(1e6),
        profile_id: text(1e6),
        properties: { a: text(1e6) },
        value: "1".repeat(1e6),
        currency: text(1e6),
        occurred_at: "1".repeat(1e6),
        dedupe_id: text(1e6),
      },
    ],
    [
      "100,000 conditions",
      MetricAggregateCreate,
      { filter: Object.fromEntries(many(100_000, 1).map((value, index) => [`properties.${index}`, value])) },
    ],
    ["100,000 groupings", MetricAggregateCreate, { group_by: many(100_000, "source") }],
  ];
  test.each(cases)("%s", (_name, schema, body) => {
    const before = process.cpuUsage();
    const faults = findBodyFaults(schema, body);
    const { user, system } = process.cpuUsage(before);
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.length).toBeLessThanOrEqual(fieldErrorsMax);
    expect((user + system) / 1000).toBeLessThan(cpuMsMax);
    // Faults do not echo long values or names.
    expect(JSON.stringify(faults).length).toBeLessThan(20_000);
  });
});

test("a field that is misspelt or named as elsewhere is known by its name here", () => {
  const fields = Object.keys(schemas.EventCreate.properties);
  expect(nearestName("event", fields)).toBe("type");
  expect(nearestName("email", fields)).toBe("identifier");
  expect(nearestName("email", Object.keys(schemas.ProfileCreate.properties))).toBe("identifiers");
  expect(nearestName("curency", fields)).toBe("currency");
  expect(nearestName("Properties", fields)).toBe("properties");
  expect(nearestName("colour", fields)).toBeUndefined();
  expect(nearestName("__proto__", fields)).toBeUndefined();
  expect(nearestName("x".repeat(1_000_000), fields)).toBeUndefined();
});

test("what came is shown only where it says nothing of a person", () => {
  const said = (schema: Type.TSchema, body: unknown): string =>
    JSON.stringify(findBodyFaults(schema, body).map(({ message }) => message));
  const secret = "ada.lovelace.1815";
  const personal = { identifier: { type: "email", value: secret }, dedupe_id: secret.repeat(20), profile_id: secret };
  expect(said(schemas.EventCreate, { type: "a.b", properties: {}, ...personal })).not.toContain(secret);
  const location = { city: secret.repeat(20), region: secret.repeat(20), zip: secret.repeat(20) };
  expect(said(schemas.ProfileCreate, { identifiers: [{ type: "phone", value: secret }], location })).not.toContain(
    secret,
  );
  expect(said(schemas.ProfileCreate, { identifiers: { email: secret } })).not.toContain(secret);
  expect(said(schemas.EventCreate, { type: "grace@example.com", properties: {} })).not.toContain("grace@example.com");
  expect(said(schemas.EventCreate, { type: "A.b", properties: {} })).toContain('got \\"A.b\\"');
});
