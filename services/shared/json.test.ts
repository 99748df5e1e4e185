import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, findJsonProblem, mayHaveProblems, parseJson, parseJsonBytes } from "./json.ts";

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
      // A body is looked at byte by byte before it is read.
      expect(JSON.stringify(parseJsonBytes(Buffer.from(sent)))).toBe(written);
      const back = written === '{"n":[]}' ? [] : written.slice(6, -2).split(",");
      // Each is either the same text, or the shortest text of a double that holds it exactly.
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

test("refuses what is not JSON, and what is not UTF-8", () => {
  expect(() => parseJson("{")).toThrow(SyntaxError);
  expect(() => parseJsonBytes(Buffer.from([0x22, 0xc3, 0x22]))).toThrow(SyntaxError);
  expect(parseJsonBytes(Buffer.from('"ü"'))).toBe("ü");
});

test("refuses a body that is too deep or has too many values, and no other", () => {
  const deep = (levels: number): Buffer => Buffer.from("[".repeat(levels) + "]".repeat(levels));
  expect(() => parseJsonBytes(deep(1001))).toThrow(/levels deep/);
  expect(parseJsonBytes(deep(1000))).toBeInstanceOf(Array);
  const many = (values: number): Buffer => Buffer.from(`[0${",0".repeat(values)}]`);
  expect(() => parseJsonBytes(many(250_001))).toThrow(/values/);
  expect(parseJsonBytes(many(200_000))).toHaveLength(200_001);
  // Brackets and commas within texts are none.
  const text = JSON.stringify({ a: '[{"\\'.repeat(1200), b: ",".repeat(300_000) });
  expect(JSON.stringify(parseJsonBytes(Buffer.from(text)))).toBe(text);
  const keys = (count: number): string =>
    `{${Array.from({ length: count }, (_, index) => `"${index}":{"a":1}`).join(",")}}`;
  expect(() => parseJsonBytes(Buffer.from(`[{"a":1},${keys(45_001)}]`))).toThrow(/keys/);
  // Each object is counted by itself.
  expect(parseJsonBytes(Buffer.from(`[${keys(45_000)},${keys(45_000)}]`))).toHaveLength(2);
});

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
