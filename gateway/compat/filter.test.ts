import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FilterError, formatCondition, parseFilter, type Condition } from "./filter.ts";

const field = fc.stringMatching(/^[\w$][\w$.-]{0,12}$/);
const operator = fc.stringMatching(/^[a-z][a-z-]{0,12}$/).filter((name) => !["any", "and", "or", "not"].includes(name));
const value = fc.string({ unit: "grapheme" });
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ operator, field, values: fc.array(value, { maxLength: 1 }) }),
  fc.record({ operator: fc.constant("any"), field, values: fc.array(value, { maxLength: 5 }) }),
);

test("what was written is read, whatever the values hold", () => {
  fc.assert(
    fc.property(fc.array(condition, { minLength: 1, maxLength: 5 }), (conditions) => {
      expect(parseFilter(conditions.map(formatCondition).join(","))).toEqual(conditions);
    }),
  );
});

/** The same conditions in `and(…)` of every shape. */
function nest(texts: string[], depth: number, cuts: number[]): string {
  const [cut = 0, ...rest] = cuts;
  if (depth === 0 || texts.length === 0) return texts.join(",");
  const at = cut % texts.length;
  const inner = nest(texts.slice(at), depth - 1, rest);
  return [...texts.slice(0, at), `and(${inner})`].join(",");
}

test("and(…) around conditions, nested or not, changes nothing", () => {
  const shapes = fc.tuple(fc.array(condition, { minLength: 1, maxLength: 5 }), fc.array(fc.nat(), { maxLength: 10 }));
  fc.assert(
    fc.property(shapes, ([conditions, cuts]) => {
      expect(parseFilter(nest(conditions.map(formatCondition), cuts.length, cuts))).toEqual(conditions);
    }),
  );
});

test("and(…) has limits, and or(…) and not(…) say that they are not supported", () => {
  const nested = (levels: number): string => `${"and(".repeat(levels)}equals(a,1)${")".repeat(levels)}`;
  expect(parseFilter(nested(10))).toHaveLength(1);
  expect(() => parseFilter(nested(11))).toThrow("nested at most 10 levels");
  expect(() => parseFilter(nested(100_000))).toThrow("nested at most 10 levels");
  expect(() => parseFilter(`and(${"equals(a,1),".repeat(20)}equals(a,1))`)).toThrow("at most 20 conditions");
  for (const text of ["and()", "and(equals(a,1)", "and(equals(a,1)))", "and", "and(equals(a,1),)"]) {
    expect(() => parseFilter(text)).toThrow(FilterError);
  }
  for (const name of ["or", "not"]) {
    expect(() => parseFilter(`${name}(equals(a,1),equals(a,2))`)).toThrow(`${name}(…) is not supported`);
    expect(() => parseFilter(`and(equals(a,1),${name}(equals(a,2)))`)).toThrow(`${name}(…) is not supported`);
  }
});

test("values in single quotes are read too", () => {
  fc.assert(
    fc.property(value, (text) => {
      const quoted = `'${text.replaceAll(/['\\]/g, "\\$&")}'`;
      expect(parseFilter(`equals(a,${quoted})`)).toEqual([{ operator: "equals", field: "a", values: [text] }]);
    }),
  );
});

test("any other text is read or refused, at once", () => {
  const pieces = fc.constantFrom("equals", "any", "(", ")", ",", "[", "]", '"', "'", "\\", "a", " ", "1");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(pieces).map((some) => some.join("")),
        fc.string({ unit: "binary" }),
      ),
      (text) => {
        try {
          for (const { operator: name, field: of } of parseFilter(text))
            expect(name.length * of.length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(FilterError);
        }
      },
    ),
  );
  expect(() => parseFilter(`any(a,[${'"x",'.repeat(100_000)}`)).toThrow(FilterError);
  expect(() => parseFilter(`equals(a,"${"\\".repeat(100_001)}`)).toThrow(FilterError);
});

describe("examples", () => {
  test.each<[string, Condition[]]>([
    [
      'equals(email,"a,b(c)[d]\'e@example.com")',
      [{ operator: "equals", field: "email", values: ["a,b(c)[d]'e@example.com"] }],
    ],
    [
      "equals( id , 'x' ) , has(profile)",
      [
        { operator: "equals", field: "id", values: ["x"] },
        { operator: "has", field: "profile", values: [] },
      ],
    ],
    [
      "greater-than(created,2026-01-01T00:00:00+00:00)",
      [{ operator: "greater-than", field: "created", values: ["2026-01-01T00:00:00+00:00"], isBare: true }],
    ],
    ["any(id,[\"a\",'b',c])", [{ operator: "any", field: "id", values: ["a", "b", "c"] }]],
    ['equals(Campaign Name ,"x")', [{ operator: "equals", field: "Campaign Name", values: ["x"] }]],
    ["equals(Größe/2, 3 )", [{ operator: "equals", field: "Größe/2", values: ["3"], isBare: true }]],
    ["any(id,[])", [{ operator: "any", field: "id", values: [] }]],
    ['equals(integration.name,"\\u0041\\"")', [{ operator: "equals", field: "integration.name", values: ['A"'] }]],
  ])("%s", (text, conditions) => {
    expect(parseFilter(text)).toEqual(conditions);
  });

  test.each([
    "",
    ",",
    "equals",
    "equals(",
    "equals()",
    "equals(a,)",
    "equals(a,b",
    "equals(a,b))",
    "equals(a,b),",
    'equals(a,"\\x")',
    'equals(a,"\n")',
    "Equals(a,b)",
  ])("%j cannot be read", (text) => {
    expect(() => parseFilter(text)).toThrow(FilterError);
  });
});
