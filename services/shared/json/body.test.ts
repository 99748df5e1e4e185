import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJsonBody } from "./body.ts";
import { parseJson } from "./json.ts";

const parse = (text: string, options?: { valuesMax?: number; runBytesMin?: number }): Promise<unknown> =>
  parseJsonBody(Buffer.from(text), options);

/** Optional white space. */
const gap = fc.stringMatching(/^[ \n]{0,12}$/);
const keyword = fc.constantFrom(
  "null",
  "true",
  "0.5",
  "-0",
  "12345678901234567890",
  "1e999",
  '"a,]}"',
  '"\\"["',
  '"ü"',
  "[]",
  "{}",
);

/** The text of a value with long lists. */
const { value: jsonText } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    keyword,
    fc
      .tuple(gap, fc.array(tie("value"), { maxLength: 12 }), gap)
      .map(([before, all, after]) => `[${before}${all.join(`${after},`)}${before}]`),
    fc
      .array(fc.tuple(fc.constantFrom("a", "b", "__proto__", "\\u0061"), gap, tie("value")), { maxLength: 6 })
      .map((members) => `{${members.map(([key, space, text]) => `"${key}"${space}:${text}`).join(",")}}`),
  ),
}));

test("what is read in steps is what is read at once", async () => {
  await fc.assert(
    fc.asyncProperty(jsonText, fc.integer({ min: 1, max: 60 }), async (text, runBytesMin) => {
      expect(JSON.stringify(await parse(text, { runBytesMin }))).toBe(JSON.stringify(parseJson(text)));
    }),
    { seed: 20_261_122, numRuns: 1_000 },
  );
});

test("what is no JSON is refused, wherever it is cut", async () => {
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const change = fc.record({
    text: jsonText,
    at: fc.nat(200),
    removed: fc.integer({ min: 0, max: 3 }),
    added: fc.constantFrom("", ",", "]", "[", "}", "{", '"', " ", ":", "1", ",,", "] ["),
    runBytesMin: fc.integer({ min: 1, max: 40 }),
  });
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(change, async ({ text, at, removed, added, runBytesMin }) => {
      const changed = text.slice(0, at) + added + text.slice(at + removed);
      if (isJson(changed)) {
        expect(JSON.stringify(await parse(changed, { runBytesMin }))).toBe(JSON.stringify(parseJson(changed)));
      } else {
        refused++;
        await expect(parse(changed, { runBytesMin })).rejects.toThrow(SyntaxError);
      }
    }),
    { seed: 20_261_123, numRuns: 1_000 },
  );
  expect(refused).toBeGreaterThan(300);
});

test("others have their turn while a large body is read", async () => {
  const entry = { properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index])) };
  const text = JSON.stringify({ data: Array.from({ length: 40 }, () => entry) });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  expect(JSON.stringify(await parse(text, { valuesMax: 1_000_000 }))).toBe(text);
  clearInterval(timer);
  // There are 10 to 30; a fast machine takes fewer steps, and without steps there would be none.
  expect(turns).toBeGreaterThan(2);
});

test("refuses a body that is not UTF-8", async () => {
  await expect(parseJsonBody(Buffer.from([0x22, 0xc3, 0x22]))).rejects.toThrow(/UTF-8/);
  expect(await parse('"ü"')).toBe("ü");
});

test("refuses a body that is too deep or has too many values, and no other", async () => {
  const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
  await expect(parse(deep(1001))).rejects.toThrow(/levels deep/);
  expect(await parse(deep(1000))).toBeInstanceOf(Array);
  const many = (values: number): string => `[0${",0".repeat(values)}]`;
  await expect(parse(many(250_001))).rejects.toThrow(/values/);
  expect(await parse(many(200_000))).toHaveLength(200_001);
  // Brackets and commas within strings do not count.
  const text = JSON.stringify({ a: '[{"\\'.repeat(1200), b: ",".repeat(300_000) });
  expect(JSON.stringify(await parse(text))).toBe(text);
  const keys = (count: number): string =>
    `{${Array.from({ length: count }, (_, index) => `"${index}":{"a":1}`).join(",")}}`;
  await expect(parse(`[{"a":1},${keys(45_001)}]`)).rejects.toThrow(/keys/);
  // The limit is for each object.
  expect(await parse(`[${keys(45_000)},${keys(45_000)}]`)).toHaveLength(2);
});
