/** What was read can be sent again: null is taken on write wherever it is shown on read, and says nothing. */
import { expect, test } from "vitest";
import type { Api } from "../support/api.ts";
import { describeEverywhere } from "../support/daybook.ts";
import { newEmail, newProfile } from "../support/people.ts";
import { readOpenApi } from "../support/openapi.ts";

type Json = Record<string, unknown>;

/** The fields that the body of an operation takes, in the first of its forms. */
async function bodyFieldsOf(api: Api, method: string, path: string): Promise<string[]> {
  const openApi = await readOpenApi(api);
  const schema = openApi.resolve(openApi.operationAt(method, path).body?.schema ?? {});
  const [form = {}] = schema.anyOf ?? [schema];
  return Object.keys(openApi.resolve(form).properties ?? {});
}

describeEverywhere("what was read", (daybook) => {
  /** The fields of a resource that a body of an operation takes. */
  const writable = (resource: Json, fields: readonly string[]): Json =>
    Object.fromEntries(Object.entries(resource).filter(([field]) => fields.includes(field)));

  test("of events is recorded again, singly and in a batch", async () => {
    const api = await daybook().newProperty();
    const fields = await bodyFieldsOf(api, "POST", "/v1/events");
    expect(fields).toContain("dedupe_id");
    const person = await newProfile(api);
    const bodies = [
      { type: "a.b", profile_id: person.id, properties: {} },
      {
        type: "a.b",
        profile_id: person.id,
        properties: { a: null },
        value: "1.50",
        currency: "EUR",
        dedupe_id: "once",
      },
      { type: "a.b", identifier: { type: "card", value: "7" }, properties: {}, value: null, currency: null },
      { type: "a.b", identifier: newEmail(), profile_id: null, dedupe_id: null, properties: {} },
    ];
    for (const body of bodies) {
      const first = await api.post("/v1/events", body);
      expect(first.status, first.text).toBe(201);
      const { data } = (await api.get(`/v1/events/${first.body.data.id}?expand=profile,metric`)).body;
      // An anonymous event does not show whose it is: that has to be said again.
      const whose = data.profile_id === null ? { identifier: { type: "card", value: "7" } } : {};
      const again = { ...writable(data, fields), ...whose };
      const second = await api.post("/v1/events", again);
      expect([second.status, second.body.error?.message]).toEqual([data.dedupe_id === null ? 201 : 200, undefined]);
      const { id: _id, received_at: _at, ...same } = second.body.data;
      expect(data).toMatchObject(same);
      const batch = await api.post("/v1/events/batch", { events: [{ ...again, client_reference: null }] });
      expect(batch.body.data.results[0]).toMatchObject({ error: null, client_reference: null });
    }
  });

  test("of profiles is written again, and changes nothing", async () => {
    const api = await daybook().newProperty();
    for (const location of [undefined, null, { city: "Bonn" }, { city: null, country: "XK" }]) {
      const identifiers = [newEmail()];
      const made = await api.post("/v1/profiles", { identifiers, attributes: { a: null }, location });
      expect([made.status, made.body.error?.message]).toEqual([201, undefined]);
      const path = `/v1/profiles/${made.body.data.id}`;
      const { body, headers } = await api.get(path);
      for (const [method, url, target] of [
        ["POST", "/v1/profiles/upsert", "/v1/profiles/upsert"],
        ["PATCH", "/v1/profiles/{id}", path],
      ] as const) {
        const fields = await bodyFieldsOf(api, method, url);
        expect(fields).toContain("location");
        const sent = { ...writable(body.data, fields), ...(method === "POST" ? { identifiers } : {}) };
        const again = await (method === "POST" ? api.post(target, sent) : api.patch(target, sent));
        expect([again.status, again.body.error?.message]).toEqual([200, undefined]);
        expect(again.body.data).toEqual(body.data);
        expect(again.headers.get("etag")).toBe(headers.get("etag"));
      }
    }
  });

  test("of metrics and of their aggregates is sent again", async () => {
    const api = await daybook().newProperty();
    const made = await api.post("/v1/metrics", { name: "a.b", description: null });
    expect([made.status, made.body.data?.description]).toEqual([201, null]);
    const { data } = (await api.get(`/v1/metrics/${made.body.data.id}`)).body;
    const elsewhere = await daybook().newProperty();
    const fields = await bodyFieldsOf(api, "POST", "/v1/metrics");
    expect((await elsewhere.post("/v1/metrics", writable(data, fields))).status).toBe(201);
    const patched = await api.patch(`/v1/metrics/${data.id}`, { description: data.description });
    expect(patched.body.data).toEqual(data);
    const asked = { metric: "a.b", from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z" };
    const answer = (await api.post("/v1/metric-aggregates", asked)).body.data;
    const { interval, timezone, from, to, metric_id } = answer;
    const again = await api.post("/v1/metric-aggregates", { metric_id, interval, timezone, from, to });
    expect(again.body.data).toEqual(answer);
  });
});
