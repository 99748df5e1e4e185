import fc from "fast-check";
import { expect, test } from "vitest";
import { normalizeDottedName } from "#shared/values/dotted-name.ts";
import { toEventType } from "./names.ts";

test.each([
  ["Placed Order", "placed.order"],
  ["  Viewed  Product!", "viewed.product"],
  ["order_completed", "order.completed"],
  ["a b c d e f g", "a.b.c.d.efg"],
  ["Profile Updated", "custom.profile.updated"],
  ["sms", "custom.sms"],
  ["SMS one two three four five", "custom.sms.one.two.threefourfive"],
  ["Smsx", "smsx"],
  ["Café", "caf"],
  ["注文", "custom.0cb4c9b5a7d5"],
])("%s becomes %s", (name, type) => {
  expect(toEventType(name).replace(/^custom\.[0-9a-f]{12}$/, "custom.0cb4c9b5a7d5")).toBe(type);
});

test("whatever the name, the type is one that events can have, and stays the same", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 127 }), (name) => {
      const type = toEventType(name);
      expect(normalizeDottedName(type, "type")).toEqual({ name: type });
      expect(toEventType(type)).toBe(type);
      expect(toEventType(name)).toBe(type);
    }),
  );
});

test("names without a letter of the type's own are told apart", () => {
  expect(toEventType("注文")).not.toBe(toEventType("購入"));
});
