import { expect, test } from "vitest";
import { decodeId } from "#shared/values/ids.ts";
import { execute } from "../support/database.ts";
import { describeEverywhere, testCall } from "../support/daybook.ts";
import { newEmail, newProfile } from "../support/people.ts";

const ids = (list: { id: string }[]): string[] => list.map(({ id }) => id);

describeEverywhere("writes of profiles", (daybook) => {
  test("a creation answers with the profile, where it is, and its version", async () => {
    const api = await daybook().newProperty();
    const { status, headers, body } = await api.post("/v1/profiles", {
      identifiers: [
        { type: "email", value: " Ada@Example.com", is_primary: true },
        { type: "external_id", value: "c-1" },
      ],
      attributes: { plan: "pro" },
      location: { city: "Berlin", country: "DE" },
    });
    expect(status).toBe(201);
    expect(headers.get("location")).toBe(`/v1/profiles/${body.data.id}`);
    expect(headers.get("etag")).toBe('"v1"');
    expect(headers.get("idempotency-replayed")).toBe("false");
    expect(body.data).toMatchObject({
      status: "active",
      attributes: { plan: "pro" },
      location: { city: "Berlin", country: "DE", zip: null },
    });
    expect(body.data).not.toHaveProperty("profile_ref");
    const read = await api.get(headers.get("location") ?? "");
    expect(read.body.data).toEqual(body.data);
  });

  test("a creation with an identifier that is taken is a conflict that names the holder", async () => {
    const api = await daybook().newProperty();
    const email = newEmail();
    const { id } = await newProfile(api, { identifiers: [email] });
    const answer = await api.post("/v1/profiles", {
      identifiers: [newEmail(), { ...email, value: email.value.toUpperCase() }],
    });
    expect(answer.status).toBe(409);
    expect(answer.body.error).toMatchObject({
      type: "conflict",
      code: "identity_conflict",
      param: "identifiers.1",
      message: expect.stringContaining(id),
    });
    const { code, message, param } = answer.body.error;
    expect(answer.body.error.errors).toEqual([{ code, message, param }]);
  });

  test("a conflict names at most 20 identifiers", async () => {
    const api = await daybook().newProperty();
    const identifiers = Array.from({ length: 25 }, newEmail);
    await newProfile(api, { identifiers });
    expect((await api.post("/v1/profiles", { identifiers })).body.error.errors).toHaveLength(20);
  });

  test("of a hundred creations that race for one identifier one is made, and the others name it", async () => {
    const api = await daybook().newProperty();
    const email = newEmail();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => api.post("/v1/profiles", { identifiers: [email] })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    const others = answers.filter(({ status }) => status !== 201);
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set([409]));
    for (const { body } of others) expect(body.error.errors[0].message).toContain(made[0]?.body.data.id);
  });

  test("an update replaces whole keys and the fields of the location that it names", async () => {
    const api = await daybook().newProperty();
    const { path } = await newProfile(api, {
      attributes: { plan: "pro", nested: { a: 1, b: 2 } },
      location: { city: "Berlin", country: "DE" },
    });
    const { status, headers, body } = await api.patch(path, {
      attributes: { nested: { c: 3 }, plan: null },
      location: { city: null, zip: "10115" },
    });
    expect(status).toBe(200);
    expect(headers.get("etag")).toBe('"v2"');
    expect(body.data).toMatchObject({
      attributes: { plan: null, nested: { c: 3 } },
      location: { city: null, region: null, country: "DE", timezone: null, zip: "10115" },
    });
    const emptied = await api.patch(path, { attributes: { a: 1 }, location: null });
    expect(emptied.body.data.location).toBeNull();
  });

  test("attribute operations apply in order", async () => {
    const api = await daybook().newProperty();
    const { path } = await newProfile(api, { attributes: { tags: ["a", "b"], plan: "pro", deep: { x: { y: 1 } } } });
    const { status, body } = await api.patch(path, {
      attribute_operations: [
        { op: "append_unique", path: "tags", value: "b" },
        { op: "append_unique", path: ["tags"], value: "c" },
        { op: "remove", path: "tags", value: "a" },
        { op: "set", path: ["deep", "x", "z.z"], value: { q: [1] } },
        { op: "delete", path: ["deep", "x", "y"] },
        { op: "delete", path: "plan" },
        { op: "set", path: "none", value: null },
        { op: "append_unique", path: ["new", "list"], value: { k: 1 } },
        { op: "set", path: "__proto__", value: { polluted: true } },
      ],
    });
    expect(status).toBe(200);
    expect(JSON.stringify(body.data.attributes)).toBe(
      '{"tags":["b","c"],"deep":{"x":{"z.z":{"q":[1]}}},"none":null,"new":{"list":[{"k":1}]},"__proto__":{"polluted":true}}',
    );
  });

  test("of operations one of which is refused none is done", async () => {
    const api = await daybook().newProperty();
    const { path, etag } = await newProfile(api, { attributes: { a: 1 } });
    const { status, body } = await api.patch(path, {
      attribute_operations: [
        { op: "set", path: "b", value: 2 },
        { op: "append_unique", path: "a", value: 2 },
      ],
    });
    expect([status, body.error.code, body.error.param]).toEqual([400, "not_an_array", "attribute_operations.1.path"]);
    const read = await api.get(path);
    expect(read.body.data.attributes).toEqual({ a: 1 });
    expect(read.headers.get("etag")).toBe(etag);
  });

  test("an upsert takes operations too, for a profile that is there and for one that is new", async () => {
    const api = await daybook().newProperty();
    const identifiers = [newEmail()];
    const append = (value: number) =>
      api.post("/v1/profiles/upsert", {
        identifiers,
        attribute_operations: [{ op: "append_unique", path: ["seen"], value }],
      });
    expect((await append(1)).status).toBe(201);
    expect((await append(2)).body.data.attributes).toEqual({ seen: [1, 2] });
  });

  test("a hundred clients append to one list, and all hundred values are there", async () => {
    const api = await daybook().newProperty();
    const { path } = await newProfile(api);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, value) =>
        api.patch(path, { attribute_operations: [{ op: "append_unique", path: ["list"], value }] }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { body, headers } = await api.get(path);
    expect(body.data.attributes.list.toSorted((a: number, b: number) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, value) => value),
    );
    expect(headers.get("etag")).toBe('"v101"');
  });

  test("a write with the version that was read happens, one with an older version does not", async () => {
    const api = await daybook().newProperty();
    const email = newEmail();
    const { path, etag } = await newProfile(api, { identifiers: [email] });
    const write = (ifMatch: string, a: number) =>
      api.patch(path, { attributes: { a } }, { headers: { "if-match": ifMatch } });
    const first = await write(etag, 1);
    expect([first.status, first.headers.get("etag")]).toEqual([200, '"v2"']);
    const stale = await write(etag, 2);
    expect([stale.status, stale.body.error.type, stale.body.error.code, stale.body.error.param]).toEqual([
      412,
      "precondition_failed",
      "precondition_failed",
      "If-Match",
    ]);
    expect((await api.get(path)).body.data.attributes).toEqual({ a: 1 });
    expect((await write('"v1", "v2"', 3)).status).toBe(200);
    expect((await write("*", 4)).status).toBe(200);
    for (const other of ['W/"v4"', '"v04"', '"4"', '""', '"v99999999999999999999"']) {
      expect([other, (await write(other, 5)).status]).toEqual([other, 412]);
    }
    const upsert = (ifMatch: string, identifiers: object[]) =>
      api.post("/v1/profiles/upsert", { identifiers }, { headers: { "if-match": ifMatch } });
    expect((await upsert('"v1"', [email])).status).toBe(412);
    expect((await upsert('"v4"', [email])).status).toBe(200);
    // There is nothing yet that could be in any version.
    expect((await upsert("*", [newEmail()])).status).toBe(412);
    expect(
      (await api.post("/v1/profiles", { identifiers: [newEmail()] }, { headers: { "if-match": "*" } })).status,
    ).toBe(412);
  });

  test("of fifty writers that have read the same version one writes", async () => {
    const api = await daybook().newProperty();
    const { path, etag } = await newProfile(api);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, a) => api.patch(path, { attributes: { a } }, { headers: { "if-match": etag } })),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array.from({ length: 49 }, () => 412)]);
    expect((await api.get(path)).headers.get("etag")).toBe('"v2"');
  });

  test("upserts of any size come together, and none fails for another", async () => {
    const api = await daybook().newProperty();
    const large = { attribute_operations: [{ op: "set", path: "a", value: "x".repeat(250_000) }] };
    const answers = await Promise.all(
      Array.from({ length: 90 }, (_, index) =>
        api.post("/v1/profiles/upsert", {
          identifiers: [newEmail()],
          ...(index % 3 === 0 ? { attributes: { b: index } } : large),
        }),
      ),
    );
    expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
    const small = answers.flatMap(({ body }, index) => (index % 3 === 0 ? [[body.data.attributes.b, index]] : []));
    for (const [written, sent] of small) expect(written).toBe(sent);
  });

  test("a hundred upserts of one profile, and of others beside it, each get the answer to their own", async () => {
    const api = await daybook().newProperty();
    const emails = [newEmail(), newEmail(), newEmail()];
    const { id } = await newProfile(api, { identifiers: emails });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        index % 4 === 0
          ? api.post("/v1/profiles/upsert", { identifiers: [newEmail()], attributes: { mine: index } })
          : api.post("/v1/profiles/upsert", {
              identifiers: [{ ...emails[index % 3], is_primary: true }],
              attributes: { [`k${index}`]: index },
            }),
      ),
    );
    for (const [index, { status, body }] of answers.entries()) {
      if (index % 4 === 0) expect([status, body.data.attributes]).toEqual([201, { mine: index }]);
      else expect([status, body.data.id, body.data.attributes[`k${index}`]]).toEqual([200, id, index]);
    }
    expect(Object.keys((await api.get(`/v1/profiles/${id}`)).body.data.attributes)).toHaveLength(75);
  });

  test("a batch upserts each item by itself, in order, and says what became of it", async () => {
    const api = await daybook().newProperty();
    const [email, other] = [newEmail(), newEmail()];
    const { id } = await newProfile(api, { identifiers: [other] });
    const { status, headers, body } = await api.post("/v1/profiles/batch", {
      profiles: [
        { identifiers: [email], attributes: { a: 1 }, client_reference: "new" },
        { identifiers: [email], attribute_operations: [{ op: "append_unique", path: "list", value: 1 }] },
        { identifiers: [other], attributes: { b: 1 }, client_reference: null },
        { identifiers: [email, other], client_reference: "both" },
        { identifiers: [other], attributes: { c: 1 } },
        "not an object",
        { identifiers: [{ type: "phone", value: "123" }] },
      ],
    });
    expect(status).toBe(200);
    expect(headers.get("idempotency-replayed")).toBe("false");
    const { results, counts, object } = body.data;
    expect(object).toBe("batch_result");
    expect(counts).toEqual({ succeeded: 4, failed: 3 });
    expect(results.map((result: { status: number }) => result.status)).toEqual([201, 200, 200, 409, 200, 400, 400]);
    expect(results[0]).toEqual({
      status: 201,
      client_reference: "new",
      data: { id: expect.stringMatching(/^prof_/), object: "profile" },
      error: null,
    });
    expect(results[3]).toMatchObject({ client_reference: "both", data: null, error: { code: "identity_conflict" } });
    // An item has no list of fields: its message names every holder.
    const holders = [results[0].data.id, results[2].data.id] as string[];
    expect(new Set(holders).size).toBe(2);
    for (const holder of holders) expect(results[3].error.message).toContain(holder);
    expect(results[4].data.id).toBe(id);
    expect(results[6].error.param).toBe("identifiers.0.value");
    expect((await api.get(`/v1/profiles/${results[0].data.id}`)).body.data.attributes).toEqual({ a: 1, list: [1] });
  });

  test("an item with an idempotency key is done once, and another item with the key is refused", async () => {
    const api = await daybook().newProperty();
    const item = {
      identifiers: [newEmail()],
      attribute_operations: [{ op: "set", path: "n", value: 1 }],
      idempotency_key: "k-1",
    };
    const send = (...profiles: object[]) => api.post("/v1/profiles/batch", { profiles });
    const first = await send(item, item);
    expect(first.body.data.results.map(({ status }: { status: number }) => status)).toEqual([201, 200]);
    const { id } = first.body.data.results[0].data;
    await api.patch(`/v1/profiles/${id}`, { attributes: { n: 2 } });
    const again = await send(item, { ...item, attribute_operations: [{ op: "set", path: "n", value: 3 }] });
    expect(again.body.data.results[0]).toMatchObject({ status: 200, data: { id } });
    expect(again.body.data.results[1]).toMatchObject({
      status: 409,
      error: { code: "idempotency_key_reused", type: "idempotency_error" },
    });
    // What was done once is not done again.
    expect((await api.get(`/v1/profiles/${id}`)).body.data.attributes).toEqual({ n: 2 });
  });

  test("a key is free again when it has expired, before its row is deleted", async () => {
    const api = await daybook().newProperty();
    const send = (value: number) =>
      api.post("/v1/profiles/batch", {
        profiles: [{ identifiers: [newEmail()], attributes: { n: value }, idempotency_key: "k-1" }],
      });
    const statuses = async (value: number) =>
      (await send(value)).body.data.results.map(({ status }: { status: number }) => status);
    expect(await statuses(1)).toEqual([201]);
    expect(await statuses(2)).toEqual([409]);
    const property = decodeId("prop", api.propertyId, "property_id");
    await execute(
      daybook().databaseUrl,
      `UPDATE profile.operations SET expires_at = now() - interval '1 second' WHERE property_id = '${property}'`,
    );
    expect(await statuses(3)).toEqual([201]);
    expect(await statuses(4)).toEqual([409]);
  });

  test("fifty batches that race with one key write once", async () => {
    const api = await daybook().newProperty();
    const item = { identifiers: [newEmail()], attributes: { a: 1 }, idempotency_key: "k-1" };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => api.post("/v1/profiles/batch", { profiles: [item] })),
    );
    const results = answers.map(({ body }) => body.data.results[0]);
    expect(new Set(results.map(({ data }) => data.id)).size).toBe(1);
    expect(results.filter(({ status }) => status === 201)).toHaveLength(1);
    expect((await api.get(`/v1/profiles/${results[0].data.id}`)).headers.get("etag")).toBe('"v1"');
  });

  test("profiles show a compact reference where the property has them, each its own and always the same", async () => {
    const api = await daybook().newProperty();
    const before = await newProfile(api);
    const { profiles } = daybook().clients;

    const set = (enabled: boolean) => profiles.setProfileRefs({ propertyId: api.propertyId, enabled }, testCall);
    expect(await set(true)).toMatchObject({ assigned: 1, complete: true });
    const after = await newProfile(api);
    await api.post("/v1/events", { type: "a.b", identifier: newEmail(), properties: {} });
    const refs = async () =>
      (await api.get("/v1/profiles")).body.data.map(({ profile_ref: ref }: { profile_ref?: string }) => ref);
    const shown = await refs();
    expect(after.profile_ref).toMatch(/^p_[0-9A-Za-z]{5}$/);
    expect(shown).toHaveLength(3);
    for (const ref of shown) expect(ref).toMatch(/^p_[0-9A-Za-z]{5}$/);
    expect(new Set(shown).size).toBe(3);
    await set(false);
    expect(await refs()).toEqual([undefined, undefined, undefined]);
    await set(true);
    expect(await refs()).toEqual(shown);
    expect(ids((await api.get("/v1/profiles")).body.data)).toContain(before.id);
  });
});
