import { expect, test } from "vitest";
import { describeEverywhere } from "../support/daybook.ts";

const email = { type: "email", value: "Ada@Example.com " };

describeEverywhere("profiles", (daybook) => {
  test("upsert creates a profile, then updates it and adds what it lacks", async () => {
    const api = await daybook().newProperty();
    const created = await api.post("/v1/profiles/upsert", {
      identifiers: [email],
      attributes: { plan: "pro", nested: { a: 1 } },
      location: { city: "Berlin", country: "DE", timezone: "Europe/Berlin" },
    });
    expect(created.status).toBe(201);
    const profile = created.body.data;
    expect(created.headers.get("location")).toBe(`/v1/profiles/${profile.id}`);
    expect(created.headers.get("etag")).toBe('"v1"');
    expect(created.headers.get("idempotency-replayed")).toBe("false");
    expect(profile).toEqual({
      id: expect.stringMatching(/^prof_/),
      object: "profile",
      status: "active",
      identifier_ids: [expect.stringMatching(/^idnt_/)],
      attributes: { plan: "pro", nested: { a: 1 } },
      tags: [],
      location: { city: "Berlin", region: null, country: "DE", timezone: "Europe/Berlin", zip: null },
      merged_into: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      updated_at: profile.created_at,
    });

    const updated = await api.post("/v1/profiles/upsert", {
      identifiers: [
        { type: "email", value: "ada@example.com" },
        { type: "external_id", value: "c-1" },
      ],
      attributes: { nested: { b: 2 } },
      location: { city: null, zip: "10115" },
    });
    expect(updated.status).toBe(200);
    expect(updated.headers.get("location")).toBeNull();
    expect(updated.headers.get("etag")).toBe('"v2"');
    expect(updated.body.data).toMatchObject({
      id: profile.id,
      attributes: { plan: "pro", nested: { b: 2 } },
      location: { city: null, country: "DE", timezone: "Europe/Berlin", zip: "10115" },
      created_at: profile.created_at,
    });
    expect(updated.body.data.identifier_ids).toHaveLength(2);
    expect(updated.body.data.updated_at > profile.updated_at).toBe(true);

    const read = await api.get(`/v1/profiles/${profile.id}`);
    expect(read.headers.get("etag")).toBe('"v2"');
    expect(read.body.data).toEqual(updated.body.data);
  });

  test("an upsert that changes nothing is no write", async () => {
    const api = await daybook().newProperty();
    const body = { identifiers: [{ ...email, is_primary: true }], attributes: { a: 1.5 }, location: { zip: "1" } };
    const first = await api.post("/v1/profiles/upsert", body);
    const second = await api.post("/v1/profiles/upsert", body);
    expect(second.headers.get("etag")).toBe(first.headers.get("etag"));
    expect(second.body.data).toEqual(first.body.data);
  });

  test("takes the form of the getting-started guide", async () => {
    const api = await daybook().newProperty();
    const { status, body } = await api.post("/v1/profiles/upsert", {
      identifiers: { email: "ada@example.com", external_id: "c-1" },
      attributes: { first_name: "Ada" },
    });
    expect(status).toBe(201);
    expect(body.data.identifier_ids).toHaveLength(2);
    expect(body.data.attributes).toEqual({ first_name: "Ada" });
  });

  test("identifiers are shown masked, and in full only with their scope", async () => {
    const api = await daybook().newProperty();
    const identifiers = [
      { ...email, is_primary: true },
      { type: "phone", value: "+15550100123" },
      { type: "external_id", value: "c-1" },
    ];
    const { body } = await api.post("/v1/profiles/upsert", { identifiers });
    const path = `/v1/profiles/${body.data.id}?expand=identifiers`;
    const full = (await api.get(path)).body.data.identifiers;
    expect(full).toHaveLength(3);
    expect(full[0]).toEqual({
      id: body.data.identifier_ids[0],
      object: "identifier",
      profile_id: body.data.id,
      type: "email",
      value: "ada@example.com",
      display_value: "a•••@example.com",
      is_primary: true,
      verified_at: null,
      source: "api",
      created_at: body.data.created_at,
      updated_at: body.data.created_at,
    });
    const shown = (type: string) => full.find((identifier: { type: string }) => identifier.type === type).display_value;
    expect(shown("phone")).toBe("+1•••••••0123");
    expect(shown("external_id")).toBe("c•••");

    const masked = await (await api.withScopes(["profiles:read"])).get(path);
    expect(masked.text).not.toContain("ada@example.com");
    expect(masked.body.data.identifiers[0]).not.toHaveProperty("value");
  });

  test("identifiers of different profiles are a conflict that names the holders", async () => {
    const api = await daybook().newProperty();
    const one = await api.post("/v1/profiles/upsert", { identifiers: [email] });
    const two = await api.post("/v1/profiles/upsert", { identifiers: [{ type: "phone", value: "+15550100123" }] });
    const both = await api.post("/v1/profiles/upsert", {
      identifiers: [email, { type: "phone", value: "+15550100123" }],
      attributes: { a: 1 },
    });
    expect(both.status).toBe(409);
    expect(both.body.error).toMatchObject({ type: "conflict", code: "identity_conflict", param: "identifiers.0" });
    for (const { body } of [one, two]) expect(both.body.error.message).toContain(body.data.id);
    const [first] = both.body.error.errors;
    expect(both.body.error).toMatchObject(first);
    const said = both.body.error.errors.map(({ param, message }: { param: string; message: string }) => [
      param,
      message,
    ]);
    expect(said).toEqual([
      ["identifiers.0", expect.stringContaining(one.body.data.id)],
      ["identifiers.1", expect.stringContaining(two.body.data.id)],
    ]);
    expect((await api.get(`/v1/profiles/${one.body.data.id}`)).body.data.attributes).toEqual({});
  });

  test("a new primary takes the mark from the one before", async () => {
    const api = await daybook().newProperty();
    const upsert = (value: string) =>
      api.post("/v1/profiles/upsert", {
        identifiers: [
          { type: "external_id", value: "c-1" },
          { type: "email", value, is_primary: true },
        ],
      });
    await upsert("one@example.com");
    const { body } = await upsert("two@example.com");
    const primaries = async () =>
      (await api.get(`/v1/profiles/${body.data.id}?expand=identifiers`)).body.data.identifiers
        .filter(({ is_primary }: { is_primary: boolean }) => is_primary)
        .map(({ value }: { value: string }) => value);
    expect(await primaries()).toEqual(["two@example.com"]);
    await upsert("one@example.com");
    expect(await primaries()).toEqual(["one@example.com"]);
  });

  test("a hundred first events for one new email make one profile, whatever its spelling", async () => {
    const api = await daybook().newProperty();
    const spellings = ["new@example.com", " New@Example.com", "NEW@EXAMPLE.COM "];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        api.post("/v1/events", {
          type: "page.viewed",
          identifier: { type: "email", value: spellings[index % 3] },
          properties: {},
        }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.data.profile_id)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(100);
  });

  test("fifty upserts that race for one new person make one profile and lose no attribute", async () => {
    const api = await daybook().newProperty();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        api.post("/v1/profiles/upsert", {
          identifiers: [email, { type: "external_id", value: `c-${index % 5}` }].slice(0, 1 + (index % 2)),
          attributes: { [`a${index}`]: index },
        }),
      ),
    );
    expect(new Set(answers.map(({ body }) => body.data?.id)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
    const { body, headers } = await api.get(`/v1/profiles/${answers[0]?.body.data.id}`);
    expect(Object.keys(body.data.attributes)).toHaveLength(50);
    expect(headers.get("etag")).toBe('"v50"');
  });

  test("attributes keep their digits, and names of Object's own are keys like any other", async () => {
    const api = await daybook().newProperty();
    const attributes = '{"big":12345678901234567890,"__proto__":{"x":1},"constructor":"c"}';
    const identifiers = '[{"type":"email","value":"ada@example.com"}]';
    await api.post("/v1/profiles/upsert", `{"identifiers":${identifiers},"attributes":${attributes}}`);
    const { text } = await api.post("/v1/profiles/upsert", `{"identifiers":${identifiers},"attributes":{"new":1}}`);
    expect(text).toContain(`"attributes":${attributes.slice(0, -1)},"new":1}`);
  });

  test("a profile of another property is not found", async () => {
    const mine = await daybook().newProperty();
    const theirs = await daybook().newProperty();
    const { body } = await mine.post("/v1/profiles/upsert", { identifiers: [email] });
    expect((await theirs.get(`/v1/profiles/${body.data.id}`)).status).toBe(404);
    const same = await theirs.post("/v1/profiles/upsert", { identifiers: [email] });
    expect(same.status).toBe(201);
    expect(same.body.data.id).not.toBe(body.data.id);
  });
});
