import fc from "fast-check";
import { expect, test } from "vitest";
import { mergeAttributes } from "./attributes.ts";

test("each key of the patch replaces that key, the others stay", () => {
  const objects = fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "a")),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(objects, objects, (current, patch) => {
      // Through text, as -0 and the like are not what JSON keeps.
      const [before, changes] = [JSON.stringify(current), JSON.stringify(patch)];
      const merged = JSON.parse(mergeAttributes(before, changes)) as object;
      const expected = new Map([
        ...Object.entries(JSON.parse(before) as object),
        ...Object.entries(JSON.parse(changes) as object),
      ]);
      expect(new Map(Object.entries(merged))).toEqual(expected);
    }),
  );
});

test("digits that a double has not are kept on both sides", () => {
  expect(mergeAttributes('{"a":1e400}', '{"b":12345678901234567890}')).toBe('{"a":1e400,"b":12345678901234567890}');
});

test("the limit on size is on the result", () => {
  const half = JSON.stringify({ a: "x".repeat(200 * 1024) });
  expect(() => mergeAttributes(half, JSON.stringify({ b: "x".repeat(100 * 1024) }))).toThrow(/256 KiB/);
  expect(mergeAttributes(half, JSON.stringify({ a: "x" }))).toBe('{"a":"x"}');
});

test.each(["[]", "null", "1", "{", ""])("%j are no attributes", (text) => {
  expect(() => mergeAttributes("{}", text)).toThrow(expect.objectContaining({ param: "attributes" }));
});
