import fc from "fast-check";
import { expect, test } from "vitest";
import { normalizeDottedName } from "./dotted-name.ts";

const normalize = (text: string) => normalizeDottedName(text, "type");

const word = fc.stringMatching(/^[a-z0-9]{1,12}$/);
const separator = fc.constantFrom(".", "_");

test("one to five words joined by dots or underscores are a name, with dots", () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), separator, (words, join) => {
      fc.pre(words[0] !== "sms" && words[0] !== "profile");
      expect(normalize(words.join(join))).toEqual({ name: words.join(".") });
    }),
  );
});

test("a name that was accepted is accepted again unchanged, and is of the pattern", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z0-9._A-Z]{0,40}$/)), (text) => {
      const result = normalize(text);
      if ("error" in result) return;
      expect(normalize(result.name)).toEqual(result);
      expect(result.name).toMatch(/^[a-z0-9]+(\.[a-z0-9]+){0,4}$/);
      expect(result.name.length).toBeLessThanOrEqual(200);
    }),
  );
});

test("the platform's namespaces are reserved, words that only start like them are not", () => {
  for (const type of ["sms", "sms.sent", "sms_sent", "profile.created", "profile_a_b"]) {
    expect(normalize(type)).toMatchObject({ error: { code: "reserved_event_type", param: "type" } });
  }
  expect(normalize("smsx.sent")).toEqual({ name: "smsx.sent" });
  expect(normalize("my.profile")).toEqual({ name: "my.profile" });
});

test("names keep their normal form, however many there are", () => {
  const words = Array.from({ length: 2_500 }, (_, index) => index.toString(36));
  for (let time = 0; time < 2; time++) {
    for (const text of words) expect(normalize(`${text}_done`)).toEqual({ name: `${text}.done` });
  }
});

test("200 characters are a name, 201 are not", () => {
  expect(normalize("a".repeat(200))).toEqual({ name: "a".repeat(200) });
  expect(normalize("a".repeat(201))).toMatchObject({ error: { code: "invalid_event_type" } });
});

test("an empty one is no name, and refusals name the field that it stands in", () => {
  expect(normalizeDottedName("", "name")).toMatchObject({ error: { code: "invalid_event_type", param: "name" } });
  expect(normalizeDottedName("sms", "name")).toMatchObject({ error: { code: "reserved_event_type", param: "name" } });
});
