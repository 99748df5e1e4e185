/** Webhook endpoints over HTTP: who sees which, what their secrets are told to, and what changes of them. */
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { decodeId } from "#shared/values/ids.ts";
import type { Api } from "../support/api.ts";
import { newToken } from "../support/apps.ts";
import { describeEverywhere, type TestProperty } from "../support/daybook.ts";
import { keyed, replayedOf } from "../support/idempotency.ts";
import { newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";
import { expectError } from "../support/refusals.ts";

const url = "https://shop.example.com/daybook";
const path = "/v1/webhook-endpoints";

describeEverywhere("webhook endpoints", (daybook) => {
  let database: pg.Client;
  let api: TestProperty;
  beforeAll(async () => {
    database = new pg.Client({ connectionString: daybook().databaseUrl });
    await database.connect();
    api = await daybook().newProperty();
  });
  afterAll(() => database.end());

  const make = async (by: Api, fields: object = {}) => {
    const { status, body, text } = await by.post(path, { url, types: ["event.recorded"], ...fields });
    expect([status, text]).toEqual([201, expect.any(String)]);
    return body.data;
  };
  const idsOf = async (by: Api): Promise<string[]> =>
    (await by.get(path)).body.data.map(({ id }: { id: string }) => id);

  test("tell their secret once, and what they hold each time", async () => {
    const headers = [{ name: "x-shop", value: "7" }];
    const fields = { description: "Orders", filter: { event_types: ["order.*"] }, headers, rate_limit_per_second: 5 };
    const { secret, ...made } = await make(api, fields);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]+=*$/);
    expect(made).toMatchObject({
      object: "webhook_endpoint",
      url,
      description: "Orders",
      types: ["event.recorded"],
      filter: { event_types: ["order.*"], sources: [] },
      status: "enabled",
      rate_limit_per_second: 5,
    });
    const read = await api.get(`${path}/${made.id}`);
    expect(read.body.data).toEqual(made);
    expect(read.text).not.toContain('"7"');
    expect((await api.get(path)).body.data).toContainEqual(made);
  });

  test("are changed field by field", async () => {
    const { secret: _secret, ...made } = await make(api, { description: "before", rate_limit_per_second: 5 });
    const patch = async (change: object) => (await api.patch(`${path}/${made.id}`, change)).body.data;
    const without = { ...made, updated_at: expect.any(String) };
    expect(await patch({ description: "after" })).toEqual({ ...without, description: "after" });
    expect(await patch({ rate_limit_per_second: null })).toMatchObject({ rate_limit_per_second: null, url });
    expect(await patch({ types: ["*"] })).toMatchObject({ types: ["*"], description: "after" });
    expect(await patch({ status: "disabled" })).toMatchObject({ status: "disabled", disabled_reason: "manual" });
    expect(await patch({ status: "enabled" })).toMatchObject({ status: "enabled", disabled_reason: null });
    expectError(await api.patch(`${path}/${made.id}`, {}), 400, "parameter_missing", null);
    const gone = await api.request("DELETE", `${path}/${made.id}`);
    expect(gone.body.data).toEqual({ id: made.id, object: "webhook_endpoint", deleted: true });
    expectError(await api.get(`${path}/${made.id}`), 404, "resource_not_found", "id");
    expectError(await api.request("DELETE", `${path}/${made.id}`), 404, "resource_not_found", "id");
  });

  test("need the scopes of their types, by name, and are seen with them only", async () => {
    const poor = await api.withScopes(["events:read"]);
    const refused = await poor.post(path, { url, types: ["event.recorded", "profile.created"] });
    expect([refused.status, refused.body.error.code, refused.body.error.message]).toEqual([
      403,
      "missing_scope",
      expect.stringContaining("profiles:read"),
    ]);
    expect((await poor.post(path, { url, types: ["*"] })).status).toBe(403);
    const [own, foreign] = [await make(poor), await make(api, { types: ["profile.created"] })];
    const seen = await idsOf(poor);
    expect(seen).toContain(own.id);
    expect(seen).not.toContain(foreign.id);
    const hidden = `${path}/${foreign.id}`;
    for (const answer of [
      await poor.get(hidden),
      await poor.patch(hidden, { description: "mine" }),
      await poor.request("POST", `${hidden}/rotate-secret`, { headers: json, body: "{}" }),
      await poor.request("POST", `${hidden}/test`),
      await poor.request("POST", `${hidden}/replay`, { headers: json, body: JSON.stringify(span) }),
      await poor.request("DELETE", hidden),
    ]) {
      expectError(answer, 404, "resource_not_found", "id");
    }
    expect((await poor.patch(`${path}/${own.id}`, { types: ["profile.created"] })).status).toBe(403);
    expect((await api.get(`${path}/${own.id}`)).body.data.types).toEqual(["event.recorded"]);
  });

  test("keep what they were sent of other types from who may not read those", async () => {
    const shop = await daybook().newProperty();
    const { id } = await make(shop, { url: "https://nobody.invalid/", types: ["profile.created"] });
    await newProfile(shop);
    const list = `/v1/webhook-deliveries?filter[endpoint_id]=${id}`;
    const [delivery] = await eventually(async () => {
      const { data } = (await shop.get(list)).body;
      return data.length > 0 ? data : undefined;
    });
    await shop.patch(`${path}/${id}`, { types: ["event.recorded"] });
    const reader = await shop.withScopes(["events:read"]);
    expect(await idsOf(reader)).toEqual([id]);
    expect((await reader.get(list)).body.data).toEqual([]);
    expectError(await reader.get(`/v1/webhook-deliveries/${delivery.id}`), 404, "resource_not_found", "id");
    expect((await shop.get(`/v1/webhook-deliveries/${delivery.id}`)).status).toBe(200);
  });

  test("take the values of their headers to another server only if they are sent again", async () => {
    const headers = [{ name: "authorization", value: "Bearer of the shop" }];
    const { id } = await make(api, { headers });
    const patch = (change: object) => api.patch(`${path}/${id}`, change);
    const elsewhere = "https://other.example.com/";
    for (const change of [{ url: elsewhere }, { url: elsewhere, headers: [{ name: "authorization" }] }]) {
      expectError(await patch(change), 400, "parameter_missing", "headers");
    }
    expect((await patch({ url: `${url}/2` })).status).toBe(200);
    expect((await patch({ url: elsewhere, headers })).status).toBe(200);
    expect((await patch({ url, headers: [] })).body.data).toMatchObject({ url, headers: [] });
  });

  test("of an installation are its own, and end with it alone", async () => {
    const token = await newToken(daybook(), api.propertyId, ["events:read"]);
    const [own, other] = [await make(token), await make(api)];
    expect(await idsOf(token)).toEqual([own.id]);
    expect(await idsOf(api)).toEqual(expect.arrayContaining([own.id, other.id]));
    expectError(await token.get(`${path}/${other.id}`), 404, "resource_not_found", "id");
  });

  test("that are made or given a secret under a key are made once, and no secret is kept with the answer", async () => {
    const key = keyed(crypto.randomUUID());
    const wanted = { url, types: ["event.recorded"], description: "once" };
    const [first, again] = [await api.post(path, wanted, key), await api.post(path, wanted, key)];
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body.data).toEqual(first.body.data);
    expect((await api.get(path)).body.data.filter((one: { id: string }) => one.id === first.body.data.id)).toHaveLength(
      1,
    );
    const another = await api.withScopes(["events:read"]);
    expectError(await another.post(path, wanted, key), 409, "idempotency_key_reused", null);
    expectError(
      await api.post(path, { ...wanted, description: "twice" }, key),
      409,
      "idempotency_key_reused",
      "Idempotency-Key",
    );

    const rotating = keyed(crypto.randomUUID());
    const rotate = () => api.post(`${path}/${first.body.data.id}/rotate-secret`, { grace_seconds: 60 }, rotating);
    const [rotated, repeated] = [await rotate(), await rotate()];
    expect(rotated.body.data.secret).not.toBe(first.body.data.secret);
    expect([repeated.status, repeated.body.data.secret, replayedOf(repeated)]).toEqual([200, undefined, "true"]);
    const { rows } = await database.query<{ row: string }>(
      "SELECT row_to_json(o)::text AS row FROM identity.operations o WHERE property_id = $1",
      [decodeId("prop", api.propertyId, "property_id")],
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const secret of [first.body.data.secret, rotated.body.data.secret]) {
      expect(rows.filter(({ row }) => row.includes(secret.slice("whsec_".length)))).toEqual([]);
    }
  });

  test.each([
    ["http", { url: "http://shop.example.com/" }, 400, "url_not_allowed", "url"],
    ["a user", { url: "https://a:b@shop.example.com/" }, 400, "url_not_allowed", "url"],
    ["this machine", { url: "https://127.0.0.1/" }, 400, "url_not_allowed", "url"],
    ["this machine as a number", { url: "https://2130706433/" }, 400, "url_not_allowed", "url"],
    ["a network inside", { url: "https://[::ffff:10.0.0.1]/" }, 400, "url_not_allowed", "url"],
    ["no URL", { url: "shop" }, 400, "url_not_allowed", "url"],
    ["an unknown type", { types: ["event.deleted"] }, 400, "parameter_invalid", "types.0"],
    ["no types", { types: [] }, 400, "parameter_missing", "types"],
    [
      "a header that HTTP sets",
      { headers: [{ name: "host", value: "x" }] },
      400,
      "parameter_invalid",
      "headers.0.name",
    ],
    [
      "a header of two lines",
      { headers: [{ name: "x-a", value: "1\r\nx-b: 2" }] },
      400,
      "parameter_invalid",
      "headers.0.value",
    ],
    ["a rate of none", { rate_limit_per_second: 0 }, 400, "parameter_invalid", "rate_limit_per_second"],
    ["an unknown revision", { revision: "2020-01-01" }, 400, "invalid_revision", "revision"],
    [
      "a filter that is no type",
      { filter: { event_types: ["Order Completed"] } },
      400,
      "invalid_event_type",
      "filter.event_types.0",
    ],
  ])("are refused with %s", async (_name, fields, status, code, param) => {
    const before = await idsOf(api);
    expectError(await api.post(path, { url, types: ["event.recorded"], ...fields }), status, code, param);
    expect(await idsOf(api)).toEqual(before);
  });
});

const span = { from: "2026-11-01T00:00:00Z", to: "2026-11-02T00:00:00Z", only: "all" };
const json = { "content-type": "application/json" };
