/** Whatever a profile or an event says goes in and comes out equal. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { compatDefaults } from "../../gateway/config.ts";
import { startSingleProcess, type TestProperty } from "../support/daybook.ts";

const owner = new Owner();
let api: TestProperty;
beforeAll(async () => {
  const daybook = await startSingleProcess(owner, {
    compat: { ...compatDefaults, authSchemes: ["other-key"] },
    edge: { publicUrl: "https://shop.example.com/base" },
  });
  api = await daybook.newProperty();
});
afterAll(() => owner.close());

const numRuns = 60;
let count = 0;
// What PostgreSQL cannot keep is refused, and tested elsewhere.
const text = fc.string({ unit: "grapheme", maxLength: 40 });
const nullable = <T>(values: fc.Arbitrary<T>) => fc.option(values, { freq: 4 });
const key = fc.oneof(
  text,
  fc.constantFrom("__proto__", "constructor", "$odd", "a.b", "email", "first_name", "properties"),
);
// As JSON: in it -0 is 0.
const json = fc
  .jsonValue({ maxDepth: 3, stringUnit: "grapheme" })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const properties = fc.dictionary(key, json, { maxKeys: 6 });
const coordinate = fc.oneof(
  fc.double({ min: -180, max: 180, noNaN: true }).filter((value) => !Object.is(value, -0)),
  text,
);
const location = fc.record(
  {
    address1: nullable(text),
    address2: nullable(text),
    city: nullable(fc.oneof(text, fc.constant("x".repeat(300)))),
    country: nullable(fc.oneof(text, fc.constantFrom("PT", "pt", "Portugal", "XX"))),
    latitude: nullable(coordinate),
    longitude: nullable(coordinate),
    region: nullable(text),
    zip: nullable(fc.oneof(text, fc.constant("9".repeat(40)))),
    timezone: nullable(fc.constantFrom("Europe/Lisbon", "europe/lisbon", "UTC", "+01:00", "nowhere")),
    ip: nullable(text),
  },
  { requiredKeys: [] },
);
const profile = fc.record(
  {
    first_name: nullable(text),
    last_name: nullable(text),
    organization: nullable(text),
    title: nullable(text),
    locale: nullable(text),
    image: nullable(text),
    phone_number: fc.stringMatching(/^[a-z ]{1,12}$/),
    location,
    properties,
  },
  { requiredKeys: [] },
);

/**
 * A phone of nothing but spaces says nothing; none of the others is one that somebody is known by, so the last is
 * shown.
 */
function phoneOf(...given: { phone_number?: string }[]): { phone_number?: string | null } {
  const phones = given.flatMap(({ phone_number: phone }) => phone ?? []);
  return phones.length === 0 ? {} : { phone_number: phones.findLast((phone) => phone.trim() !== "") ?? null };
}

test("a profile, made and written again", async () => {
  await fc.assert(
    fc.asyncProperty(profile, profile, async (first, second) => {
      const email = `round${++count}@example.com`;
      const made = await api.post("/api/profiles", { data: { type: "profile", attributes: { ...first, email } } });
      expect(made.status).toBe(201);
      expect(made.body.data.attributes).toMatchObject({ ...first, ...phoneOf(first), email });
      if (first.properties) expect(made.body.data.attributes.properties).toEqual(first.properties);
      const path = `/api/profiles/${made.body.data.id}`;
      for (const [method, at] of [
        ["POST", "/api/profile-import"],
        ["PATCH", path],
      ] as const) {
        const attributes = method === "POST" ? { ...second, email } : second;
        const headers = { "content-type": "application/vnd.api+json" };
        const body = JSON.stringify({ data: { type: "profile", attributes } });
        const written = await api.request(method, at, { headers, body });
        expect(written.status).toBe(200);
        const read = (await api.get(path)).body.data.attributes;
        // That it was made is an event too, which comes a moment later.
        expect({ ...read, last_event_date: null }).toEqual({ ...written.body.data.attributes, last_event_date: null });
        expect(read).toMatchObject({
          ...first,
          ...second,
          ...phoneOf(first, second),
          email,
          location: { ...first.location, ...second.location },
          properties: { ...first.properties, ...second.properties },
        });
      }
    }),
    { numRuns, endOnFailure: true },
  );
});

test("the properties of an event", async () => {
  await fc.assert(
    fc.asyncProperty(properties, async (some) => {
      const { status, body } = await api.post("/api/events", {
        data: {
          type: "event",
          attributes: {
            metric: { data: { type: "metric", attributes: { name: "Round Trip" } } },
            profile: { data: { type: "profile", attributes: { email: "round@example.com" } } },
            properties: some,
          },
        },
      });
      expect(status).toBe(202);
      expect((await api.get(`/api/events/${body.data.id}`)).body.data.attributes.event_properties).toEqual(some);
    }),
    { numRuns, endOnFailure: true },
  );
});

test("schemes and the address for links are what they are set to", async () => {
  const answer = await api.get("/api/accounts", { headers: { authorization: `Other-Key ${api.secret}` } });
  expect(answer.body.links.self).toBe("https://shop.example.com/base/api/accounts");
  const refused = await api.get("/api/accounts", { headers: { authorization: `Klaviyo-API-Key ${api.secret}` } });
  expect(refused.status).toBe(401);
});
