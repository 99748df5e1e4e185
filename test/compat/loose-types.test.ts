/**
 * What weakly typed clients send is read as what it stands for: numbers where texts are meant, and `[]` for an empty
 * object.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { describeEverywhere, type TestProperty } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

const metric = { data: { type: "metric", attributes: { name: "Placed Order" } } };
const numbers = ["1", "0", "-7", "12345678901234567890", "0.1234567890123456789"];
const identifiers = ["external_id", "anonymous_id", "_kx"];
const fields = ["first_name", "last_name", "organization", "title", "locale", "image"];
const places = ["address1", "address2", "city", "country", "region", "zip", "timezone", "ip"];

let count = 0;
const newEmail = (): string => `loose${++count}@example.com`;
/** A profile with numbers in the place of all its texts, written out by hand as JavaScript would lose digits. */
const attributesOf = (email: string, id: string, number: string): string => {
  const members = (names: string[], value: string): string => names.map((name) => `"${name}":${value}`).join(",");
  const location = `{${members(places, number)}}`;
  return `{"email":"${email}",${members(identifiers, id)},${members(fields, number)},"location":${location}}`;
};

describeEverywhere("loose types over the compatibility surface", (daybook) => {
  let api: TestProperty;
  beforeAll(async () => {
    api = await daybook().newProperty();
  });

  async function expectTexts(email: string, id: string, number: string): Promise<void> {
    const filter = encodeURIComponent(`equals(email,"${email}")`);
    const found = await eventually(async () => (await api.get(`/api/profiles?filter=${filter}`)).body.data[0]);
    const shown = found.attributes;
    expect(shown).toMatchObject({ external_id: id, anonymous_id: id });
    for (const field of fields) expect([field, shown[field]]).toEqual([field, number]);
    for (const field of places) expect([field, shown.location[field]]).toEqual([field, number]);
    const native = (await api.get(`/v1/profiles/${found.id}/identifiers`)).body.data;
    expect(native).toContainEqual(expect.objectContaining({ type: "kx", value: id }));
  }

  describe.each(numbers)("the number %s", (number) => {
    // An identifier belongs to one profile, so each body has one of its own.
    const nextId = (): string => `${number}${++count}`.replace(/^0(?=\d)/, "1");
    test.each<[string, string, (attributes: string) => string]>([
      ["a profile", "/api/profiles", (attributes) => `{"data":{"type":"profile","attributes":${attributes}}}`],
      ["an import", "/api/profile-import", (attributes) => `{"data":{"type":"profile","attributes":${attributes}}}`],
      [
        "a job",
        "/api/profile-bulk-import-jobs",
        (attributes) =>
          `{"data":{"type":"profile-bulk-import-job","attributes":{"profiles":{"data":[{"type":"profile","attributes":${attributes}}]}}}}`,
      ],
      [
        "an event",
        "/api/events",
        (attributes) =>
          `{"data":{"type":"event","attributes":{"metric":${JSON.stringify(metric)},"unique_id":${number},"profile":{"data":{"type":"profile","attributes":${attributes}}}}}}`,
      ],
      [
        "events",
        "/api/event-bulk-create-jobs",
        (attributes) =>
          `{"data":{"type":"event-bulk-create-job","attributes":{"events-bulk-create":{"data":[{"type":"event-bulk-create","attributes":{"profile":{"data":{"type":"profile","attributes":${attributes}}},"events":{"data":[{"type":"event","attributes":{"metric":${JSON.stringify(metric)},"unique_id":${number}}}]}}}]}}}}`,
      ],
    ])("in every text of %s", async (_name, path, bodyOf) => {
      const email = newEmail();
      const id = nextId();
      const answer = await api.post(path, bodyOf(attributesOf(email, id, number)));
      expect([answer.status < 300, answer.text]).toEqual([true, expect.any(String)]);
      await expectTexts(email, id, number);
    });
  });

  test("of the flat shape too, and a number as a phone", async () => {
    const flat = { $email: newEmail(), $id: 4711, $first_name: 5, $phone_number: 15005550999 };
    const event = { data: { type: "event", attributes: { metric: { name: "Flat" }, profile: flat } } };
    expect((await api.post("/api/events", event)).status).toBe(202);
    const { data } = (await api.get('/api/profiles?filter=equals(external_id,"4711")')).body;
    expect(data[0].attributes).toMatchObject({ email: flat.$email, first_name: "5", phone_number: "15005550999" });
  });

  test("an empty list is an empty object", async () => {
    const attributes = { email: newEmail(), properties: [], location: [] };
    const made = await api.post("/api/profiles", { data: { type: "profile", attributes } });
    expect([made.status, made.body.data.attributes.properties]).toEqual([201, {}]);
    const { id } = made.body.data;
    const meta = { patch_properties: [], patch_identifiers: [] };
    const patched = await api.patch(`/api/profiles/${id}`, { data: { type: "profile", id, attributes: [], meta } });
    expect(patched.status).toBe(200);
    const empty = { patch_properties: { append: [], unappend: [], unset: [] } };
    const imported = await api.post("/api/profile-import", { data: { type: "profile", attributes, meta: empty } });
    expect(imported.status).toBe(200);
    const event = { metric, properties: [], profile: { data: { type: "profile", attributes } } };
    expect((await api.post("/api/events", { data: { type: "event", attributes: event } })).status).toBe(202);
  });

  test("nothing else is taken for what it is not", async () => {
    for (const wrong of [true, {}, ["x"], [1]]) {
      for (const field of ["external_id", "first_name"]) {
        const attributes = { email: newEmail(), [field]: wrong };
        const { status, body } = await api.post("/api/profiles", { data: { type: "profile", attributes } });
        expect([status, body.errors?.[0].source.pointer]).toEqual([
          400,
          expect.stringContaining(`/data/attributes/${field}`),
        ]);
      }
      for (const field of ["latitude", "longitude"]) {
        const attributes = { email: newEmail(), location: { [field]: wrong } };
        const { status, body } = await api.post("/api/profiles", { data: { type: "profile", attributes } });
        expect([status, body.errors?.[0].source]).toEqual([400, { pointer: `/data/attributes/location/${field}` }]);
      }
    }
  });

  test("a byte-order mark before the body means nothing", async () => {
    const body = JSON.stringify({ data: { type: "profile", attributes: { email: newEmail() } } });
    expect((await api.post("/api/profiles", `\ufeff${body}`)).status).toBe(201);
    expect((await api.post("/api/profiles", `\ufeff\ufeff${body}`)).status).toBe(400);
  });
});
