import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, findJsonProblem, mayHaveProblems, parseJson } from "./json.ts";

test("what JSON.stringify wrote comes back as it was", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const compact = JSON.stringify(JSON.parse(text));
      expect(JSON.stringify(parseJson(compact))).toBe(compact);
    }),
  );
});

test("numbers keep their value, of whatever size", () => {
  const number = fc
    .tuple(
      fc.constantFrom("", "-"),
      fc.oneof(fc.constant("0"), fc.stringMatching(/^[1-9]\d{0,40}$/)),
      fc.oneof(fc.constant(""), fc.stringMatching(/^\.\d{1,40}$/)),
      fc.oneof(fc.constant(""), fc.stringMatching(/^[eE][+-]?\d{1,3}$/)),
    )
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.array(number), (numbers) => {
      const sent = `{"n":[${numbers.join(",")}]}`;
      const written = JSON.stringify(parseJson(sent));
      const back = written === '{"n":[]}' ? [] : written.slice(6, -2).split(",");
      // Either the same text, or the shortest text of a double that holds the number exactly.
      for (const [index, text] of back.entries()) {
        const source = numbers[index] ?? "";
        expect(text === source || (digitsOf(source) === digitsOf(text) && Number(text) === Number(source))).toBe(true);
      }
    }),
  );
});

/** A number's significant digits, for comparing numbers without an exponent. */
function digitsOf(text: string): string {
  return text
    .replace("-", "")
    .replace(/^0*\.?0*/, "")
    .replace(".", "")
    .replace(/0+$/, "");
}

test("finds nesting beyond the limit, U+0000 and lone surrogates, with the place", () => {
  expect(findJsonProblem({ a: [{ b: 1 }] }, 3)).toBeUndefined();
  expect(findJsonProblem({ a: [{ b: 1 }] }, 2)).toEqual({ path: ["a", "0"], reason: "is nested too deeply" });
  expect(findJsonProblem({ a: ["x", "\0"] }, 9)).toEqual({
    path: ["a", "1"],
    reason: "holds U+0000, which cannot be stored",
  });
  expect(findJsonProblem({ a: { "\ud800": 1 } }, 9)?.path).toEqual(["a"]);
  expect(findJsonProblem({ emoji: "😀", "\u{10FFFF}": "" }, 9)).toBeUndefined();
});

test("values that are equal as JSON have one canonical text, and others have not", () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([key, child]) => [key, shuffled(child)]),
    );
  };
  const values = fc.json({ maxDepth: 4 }).map((text) => JSON.parse(text) as unknown);
  fc.assert(
    fc.property(values, values, (one, other) => {
      expect(canonicalJson(shuffled(one))).toBe(canonicalJson(one));
      const [first, second] = [one, other].map((value) => JSON.parse(JSON.stringify(value)) as unknown);
      let isSame = true;
      try {
        expect(first).toEqual(second);
      } catch {
        isSame = false;
      }
      expect(canonicalJson(one) === canonicalJson(other)).toBe(isSame);
    }),
  );
});

test.each([
  ["100", "1e2", true],
  ["1.0", "1", true],
  ["-0", "0", true],
  ["12345678901234567890", "1234567890123456789e1", true],
  ["12345678901234567890", "12345678901234567891", false],
  ["0.1", "0.10000000000000000000", true],
  ["0.1", "0.10000000000000000001", false],
  ["1e400", "10e399", true],
  ["1", '"1"', false],
  ["-1", "1", false],
  ["[1,2]", "[2,1]", false],
  ['{"a":1,"b":2}', '{"b":2.0,"a":1}', true],
  ["null", "0", false],
])("%s and %s are equal: %s", (one, other, isEqual) => {
  expect(canonicalJson(parseJson(one)) === canonicalJson(parseJson(other))).toBe(isEqual);
});

test("no problem escapes the quick look at the text", () => {
  const text = fc.oneof(fc.constantFrom("\0", "\ud800", "\udfff", "\\u0000", "{[", "a"), fc.string({ unit: "binary" }));
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "large" },
      text,
      fc.integer(),
      fc.array(tie("value"), { maxLength: 2 }),
      fc.dictionary(text, tie("value"), { maxKeys: 2 }),
    ),
  }));
  fc.assert(
    fc.property(value, fc.integer({ min: 1, max: 6 }), (one, depthMax) => {
      if (findJsonProblem(one, depthMax)) expect(mayHaveProblems(JSON.stringify(one), depthMax)).toBe(true);
    }),
    { seed: 20_261_123, numRuns: 3_000 },
  );
  expect(mayHaveProblems(JSON.stringify({ a: [1, { b: "ü" }] }), 4)).toBe(false);
});
