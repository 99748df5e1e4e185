import fc from "fast-check";
import { expect, test } from "vitest";
import { normalizeIdentifier } from "./identifiers.ts";

const normal = (type: string, value: string) => normalizeIdentifier({ type, value }, "identifier");

test("an identifier in normal form stays as it is", () => {
  const types = fc.constantFrom("email", "phone", "external_id", "shop.customer_id");
  const values = fc.oneof(fc.string({ unit: "binary" }), fc.emailAddress(), fc.stringMatching(/^\+[1-9]\d{6,14}$/));
  fc.assert(
    fc.property(types, values, (type, value) => {
      const once = normal(type, value);
      if ("errors" in once) return;
      expect(normal(type, once.value)).toEqual(once);
      expect(Array.from(once.value).length).toBeLessThanOrEqual(255);
    }),
  );
});

test.each([
  ["email", "  Ada@Example.COM\n", "ada@example.com"],
  ["email", "u\u0308@example.com", "ü@example.com"],
  ["phone", " +15550100123 ", "+15550100123"],
  ["phone", "+1234567", "+1234567"],
  ["external_id", " Case Kept ", "Case Kept"],
  ["external_id", "A\u030a", "Å"],
  ["external_id", "😀".repeat(255), "😀".repeat(255)],
])("%s %j is %j", (type, value, expected) => {
  expect(normal(type, value)).toEqual({ type, value: expected });
});

test.each([
  ["email", "ada"],
  ["email", "a b@example.com"],
  ["email", "a@b@c"],
  ["phone", "+123456"],
  ["phone", "+1234567890123456"],
  ["phone", "+1 555 0100"],
  ["external_id", " "],
  ["external_id", "x".repeat(256)],
  ["external_id", "\ud83d"],
  ["external_id", "a\0"],
])("%s %j is refused with its place", (type, value) => {
  expect(normal(type, value)).toMatchObject({ errors: [{ code: "parameter_invalid", param: "identifier.value" }] });
});

test.each(["", "Email", "1st", "_x", "e-mail", "x".repeat(65)])("%j is no type", (type) => {
  expect(normal(type, "x")).toMatchObject({ errors: [{ code: "parameter_invalid", param: "identifier.type" }] });
});
