import { expect, test } from "vitest";
import { personFinder } from "./persons.ts";

const names = personFinder({
  profileIds: ["prof_01jz8w3n5k7q9s1t2v4x6y8z0a"],
  identifiers: [
    { type: "email", value: "ada@example.com" },
    { type: "phone", value: "+351910000123" },
    { type: "external_id", value: "7" },
    { type: "card", value: 'Zoë "Z"' },
  ],
});

test.each([
  '{"email":"ADA@Example.com"}',
  '{"email":"\\u0061da\\u0040example.com"}',
  '{"email":"ada@exam\\u0070le.com',
  "write to ada@example.com.",
  '{"phone":"(351) 910-000.123"}',
  '{"phone":"00351 910 000 123"}',
  '{"phone":351910000123}',
  "/v1/profiles/PROF_01jz8w3n5k7q9s1t2v4x6y8z0a/merge",
  '{"external_id":7}',
  'customer "7"',
  '{"card":"Zoë \\"Z\\""}',
  '{"card":"ZOE\u0308 \\"z\\""}',
])("%s names the person", (text) => {
  expect(names(text)).toBe(true);
});

test.each(["", "{}", '{"email":"ad@example.com"}', '{"external_id":77}', "a7", "+351910000124", "\\u00", "\\"])(
  "%s does not name the person",
  (text) => {
    expect(names(text)).toBe(false);
  },
);

test("what stands at every place of a long word names nobody, and the word itself does", () => {
  const identifiers = Array.from({ length: 200 }, (_, index) => ({ type: "card", value: "a".repeat(index + 1) }));
  const find = personFinder({ profileIds: [], identifiers });
  expect(find("a".repeat(300_000))).toBe(false);
  expect(find(`${"a".repeat(300_000)} aaa`)).toBe(true);
});
