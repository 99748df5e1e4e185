import fc from "fast-check";
import { expect, test } from "vitest";
import { maskForGood } from "./masking.ts";

test.each([
  ["email", "jane@example.com", "j***@e***.com"],
  ["email", "a@b", "***"],
  ["email", "a@bc", "a***@b***"],
  ["phone", "+351910000123", "+3***"],
  ["external_id", "1001", "1***"],
  ["external_id", "42", "***"],
  ["external_id", "🙂🙂🙂", "🙂***"],
])("masks %s %s", (type, value, mask) => {
  expect(maskForGood({ type, value })).toBe(mask);
});

test("never shows a value", () => {
  fc.assert(
    fc.property(fc.constantFrom("email", "phone", "external_id"), fc.string({ minLength: 1 }), (type, value) => {
      fc.pre(!/^[^*]?\*+$/.test(value));
      expect(maskForGood({ type, value })).not.toContain(value);
    }),
  );
});
