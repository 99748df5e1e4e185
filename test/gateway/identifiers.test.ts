import { expect, test } from "vitest";
import { describeEverywhere } from "../support/daybook.ts";
import { newEmail, newProfile } from "../support/people.ts";

interface Shown {
  id: string;
  type: string;
  value: string;
  is_primary: boolean;
}

describeEverywhere("identifiers", (daybook) => {
  test("are added, listed in pages, read and removed", async () => {
    const api = await daybook().newProperty();
    const { path, id: profileId } = await newProfile(api, {
      identifiers: [{ type: "email", value: "ada@example.com" }],
    });
    const added = await api.post(`${path}/identifiers`, { type: "external_id", value: " c-1 " });
    expect(added.status).toBe(201);
    expect(added.headers.get("etag")).toBe('"v2"');
    expect(added.headers.get("idempotency-replayed")).toBe("false");
    expect(added.body.data).toMatchObject({
      object: "identifier",
      profile_id: profileId,
      type: "external_id",
      value: "c-1",
      display_value: "c•••",
      is_primary: false,
      source: "api",
    });
    const location = added.headers.get("location") ?? "";
    expect(location).toBe(`${path}/identifiers/${added.body.data.id}`);
    expect((await api.get(location)).body.data).toEqual(added.body.data);

    const first = await api.get(`${path}/identifiers?page[limit]=1`);
    expect(first.body.data.map(({ value }: Shown) => value)).toEqual(["ada@example.com"]);
    const second = await api.get(`${path}/identifiers?page[limit]=1&page[after]=${first.body.meta.page.next_cursor}`);
    expect(second.body.data.map(({ value }: Shown) => value)).toEqual(["c-1"]);
    expect(second.body.meta.page).toEqual({ limit: 1, has_more: false, next_cursor: null });

    // Some clients name the type of a body that they do not send.
    const removed = await api.delete(location, { headers: { "content-type": "application/json" } });
    expect([removed.status, removed.headers.get("etag")]).toEqual([200, '"v3"']);
    expect(removed.body.data).toEqual({ id: added.body.data.id, object: "identifier", deleted: true });
    expect((await api.get(location)).status).toBe(404);
    expect((await api.delete(location)).body.error).toMatchObject({
      code: "resource_not_found",
      param: "identifier_id",
    });
    expect((await api.get(path)).body.data.identifier_ids).toHaveLength(1);
    // It is free again.
    expect((await newProfile(api, { identifiers: [{ type: "external_id", value: "c-1" }] })).id).not.toBe(profileId);
  });

  test("the last one stays, and the answer says why", async () => {
    const api = await daybook().newProperty();
    const {
      path,
      identifier_ids: [only],
    } = await newProfile(api);
    const { status, body } = await api.delete(`${path}/identifiers/${only}`);
    expect([status, body.error.type, body.error.code]).toEqual([422, "invalid_request", "last_identifier"]);
  });

  test("of two that are removed at the same moment one stays", async () => {
    const api = await daybook().newProperty();
    for (let turn = 0; turn < 10; turn++) {
      const { path, identifier_ids: ids } = await newProfile(api, { identifiers: [newEmail(), newEmail()] });
      const answers = await Promise.all(ids.map((id: string) => api.delete(`${path}/identifiers/${id}`)));
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
      expect((await api.get(path)).body.data.identifier_ids).toHaveLength(1);
    }
  });

  test("one that the profile has is not added again", async () => {
    const api = await daybook().newProperty();
    const email = newEmail();
    const {
      path,
      identifier_ids: [id],
      etag,
    } = await newProfile(api, { identifiers: [email] });
    const same = await api.post(`${path}/identifiers`, { ...email, value: email.value.toUpperCase() });
    expect([same.status, same.body.data.id, same.headers.get("etag"), same.headers.get("location")]).toEqual([
      200,
      id,
      etag,
      null,
    ]);
    const primary = await api.post(`${path}/identifiers`, { ...email, is_primary: true });
    expect([primary.status, primary.body.data.is_primary, primary.headers.get("etag")]).toEqual([200, true, '"v2"']);
  });

  test("one that another profile has is a conflict that names it", async () => {
    const api = await daybook().newProperty();
    const email = newEmail();
    const { id } = await newProfile(api, { identifiers: [email] });
    const { path } = await newProfile(api);
    const { status, body } = await api.post(`${path}/identifiers`, email);
    expect(status).toBe(409);
    expect(body.error).toMatchObject({ code: "identity_conflict", param: "value", errors: [{ param: "value" }] });
    expect(body.error.errors[0].message).toContain(id);
  });

  test("a type has one primary identifier, the last that was made one", async () => {
    const api = await daybook().newProperty();
    const { path, identifier_ids: ids } = await newProfile(api, {
      identifiers: [
        { ...newEmail(), is_primary: true },
        newEmail(),
        { type: "phone", value: "+15550100123", is_primary: true },
      ],
    });
    const primaries = async (): Promise<string[]> =>
      (await api.get(`${path}/identifiers`)).body.data
        .filter((one: Shown) => one.is_primary)
        .map(({ id }: Shown) => id);
    expect((await primaries()).length).toBe(2);
    const shown = (await api.get(`${path}/identifiers`)).body.data as Shown[];
    const second = shown.find(({ type, is_primary: isPrimary }) => type === "email" && !isPrimary)?.id ?? "";
    const phone = shown.find(({ type }) => type === "phone")?.id ?? "";
    const promoted = await api.patch(`${path}/identifiers/${second}`, { is_primary: true });
    expect([promoted.status, promoted.body.data.id, promoted.body.data.is_primary]).toEqual([200, second, true]);
    expect((await primaries()).toSorted()).toEqual([second, phone].toSorted());
    await Promise.all(
      Array.from({ length: 40 }, (_, turn) => api.patch(`${path}/identifiers/${ids[turn % 3]}`, { is_primary: true })),
    );
    const types = (await api.get(`${path}/identifiers`)).body.data
      .filter((one: Shown) => one.is_primary)
      .map(({ type }: Shown) => type);
    expect(types.toSorted()).toEqual(["email", "phone"]);
  });

  test("a write with an older version does not happen", async () => {
    const api = await daybook().newProperty();
    const {
      path,
      etag,
      identifier_ids: [id],
    } = await newProfile(api);
    const headers = { "if-match": etag };
    expect((await api.post(`${path}/identifiers`, newEmail(), { headers })).status).toBe(201);
    expect((await api.post(`${path}/identifiers`, newEmail(), { headers })).status).toBe(412);
    expect((await api.patch(`${path}/identifiers/${id}`, { is_primary: true }, { headers })).status).toBe(412);
    expect((await api.delete(`${path}/identifiers/${id}`, { headers })).status).toBe(412);
    expect((await api.get(path)).headers.get("etag")).toBe('"v2"');
  });

  test("values are shown to those who may see them only, on writes too", async () => {
    const api = await daybook().newProperty();
    const { path } = await newProfile(api);
    const writer = await api.withScopes(["identifiers:write", "profiles:read"]);
    const added = await writer.post(`${path}/identifiers`, { type: "email", value: "secret@example.com" });
    expect(added.status).toBe(201);
    expect(added.text).not.toContain("secret@");
    expect((await writer.get(`${path}/identifiers`)).text).not.toContain("secret@");
  });

  test("a profile has at most 1,000 of them", async () => {
    const api = await daybook().newProperty();
    const email = newEmail();
    await newProfile(api, { identifiers: [email] });
    const add = (from: number, count: number) =>
      api.post("/v1/profiles/upsert", {
        identifiers: [
          email,
          ...Array.from({ length: count }, (_, index) => ({ type: "card", value: `${from + index}` })),
        ],
      });
    for (let from = 0; from < 990; from += 99) expect((await add(from, 99)).status).toBe(200);
    expect((await add(990, 9)).status).toBe(200);
    const { status, body } = await add(999, 1);
    expect([status, body.error.code, body.error.param]).toEqual([400, "too_many_items", "identifiers"]);
  });
});
