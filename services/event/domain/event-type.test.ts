import fc from "fast-check";
import { expect, test } from "vitest";
import { normalizeEventType } from "./event-type.ts";

const word = fc.stringMatching(/^[a-z0-9]{1,12}$/);
const separator = fc.constantFrom(".", "_");

test("one to five words joined by dots or underscores are a type, with dots", () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), separator, (words, join) => {
      fc.pre(words[0] !== "sms" && words[0] !== "profile");
      expect(normalizeEventType(words.join(join))).toEqual({ type: words.join(".") });
    }),
  );
});

test("a type that was accepted is accepted again unchanged, and is of the pattern", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z0-9._A-Z]{0,40}$/)), (text) => {
      const result = normalizeEventType(text);
      if ("error" in result) return;
      expect(normalizeEventType(result.type)).toEqual(result);
      expect(result.type).toMatch(/^[a-z0-9]+(\.[a-z0-9]+){0,4}$/);
      expect(result.type.length).toBeLessThanOrEqual(200);
    }),
  );
});

test("the platform's namespaces are reserved, words that only start like them are not", () => {
  for (const type of ["sms", "sms.sent", "sms_sent", "profile.created", "profile_a_b"]) {
    expect(normalizeEventType(type)).toMatchObject({ error: { code: "reserved_event_type", param: "type" } });
  }
  expect(normalizeEventType("smsx.sent")).toEqual({ type: "smsx.sent" });
  expect(normalizeEventType("my.profile")).toEqual({ type: "my.profile" });
});

test("200 characters are a type, 201 are not", () => {
  expect(normalizeEventType("a".repeat(200))).toEqual({ type: "a".repeat(200) });
  expect(normalizeEventType("a".repeat(201))).toMatchObject({ error: { code: "invalid_event_type" } });
});
