/** What metric aggregates answer: their form, sums, groups and conditions. */
import pg from "pg";
import { expect, test } from "vitest";
import { describeEverywhere, describeOnce } from "../support/daybook.ts";
import { newEmail, newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";
import { expectError } from "../support/refusals.ts";
import {
  aggregated,
  aggregatesPath as path,
  randomEvents,
  recordAll as record,
  strangers as names,
} from "../support/recount.ts";

const all = ["count", "sum_value", "unique_profiles"];

describeEverywhere("metric aggregates", (daybook) => {
  test("answer in the form that is documented", async () => {
    const api = await daybook().newProperty();
    const event = { type: "order_completed", identifier: { type: "email", value: "a@example.com" }, properties: {} };
    const times = ["2026-01-01T12:00:00Z", "2026-01-02T12:00:00Z"];
    await record(api, [
      { ...event, value: "49.90", currency: "eur", occurred_at: times[0] },
      { ...event, value: "10", currency: "EUR", occurred_at: times[0] },
      { ...event, value: "-0.005", currency: "USD", occurred_at: times[1] },
      { ...event, occurred_at: times[1] },
    ]);
    const range = { from: "2026-01-01T06:00:00+01:00", to: "2026-01-03T00:00:00Z" };
    const { body, headers } = await aggregated(api, {
      metric: "order_completed",
      measurements: all,
      interval: "day",
      ...range,
    });
    const [metric] = (await api.get("/v1/metrics?filter[name]=order.completed")).body.data;
    const [, last] = (await api.get("/v1/events?sort=received_at")).body.data;
    expect(body.data).toEqual({
      object: "metric_aggregate",
      metric_id: metric.id,
      name: "order.completed",
      interval: "day",
      timezone: "UTC",
      from: "2026-01-01T05:00:00.000000Z",
      to: "2026-01-03T00:00:00.000000Z",
      buckets: ["2026-01-01T05:00:00.000000Z", "2026-01-02T00:00:00.000000Z"],
      series: [
        { group: { currency: "EUR" }, count: [2, 0], sum_value: ["59.90", "0"], unique_profiles: [1, 0] },
        { group: { currency: "USD" }, count: [0, 1], sum_value: ["0", "-0.005"], unique_profiles: [0, 1] },
        { group: { currency: null }, count: [0, 1], sum_value: ["0", "0"], unique_profiles: [0, 1] },
      ],
      recency: {
        first_occurred_at: "2026-01-01T12:00:00.000000Z",
        last_occurred_at: "2026-01-02T12:00:00.000000Z",
        last_received_at: last.received_at,
      },
    });
    expect(headers.get("idempotency-replayed")).toBeNull();
    const total = await api.post(path, { metric_id: metric.id, ...range });
    expect(total.body.data).toMatchObject({
      interval: null,
      buckets: [body.data.from],
      series: [{ group: {}, count: [4] }],
    });
    expect(Object.keys(total.body.data.series[0])).toEqual(["group", "count"]);
    const chosen = await api.post(path, {
      metric: "order.completed",
      measurements: ["sum_value"],
      filter: { currency: "eur" },
      ...range,
    });
    expect(chosen.body.data.series).toEqual([{ group: {}, sum_value: ["59.90"] }]);
    const none = await api.post(path, { metric: "order.completed", filter: { currency: "GBP" }, ...range });
    expect(none.body.data.series).toEqual([{ group: {}, count: [0] }]);
  });

  test("sums are exact, however large and however many", async () => {
    const api = await daybook().newProperty();
    const event = {
      type: "big.sum",
      identifier: newEmail(),
      properties: {},
      currency: "EUR",
      occurred_at: "2026-01-01T00:00:00Z",
    };
    await record(api, [
      ...Array.from({ length: 999 }, () => ({ ...event, value: "999999999999999999.99999999" })),
      { ...event, value: "0.00000001" },
    ]);
    const { body } = await aggregated(api, {
      metric: "big.sum",
      measurements: ["sum_value"],
      from: "2026-01-01T00:00:00Z",
      to: "2026-01-02T00:00:00Z",
    });
    expect(body.data.series).toEqual([{ group: { currency: "EUR" }, sum_value: ["998999999999999999999.99999002"] }]);
  });

  test("profiles that were merged are one at once, in chains too, and events that were anonymous belong to whom they are linked to", async () => {
    const api = await daybook().newProperty();
    const range = { from: "2026-01-01T00:00:00Z", to: "2026-01-03T00:00:00Z" };
    const asked = { metric: "page.viewed", measurements: ["count", "unique_profiles"], interval: "day", ...range };
    const people = await Promise.all(Array.from({ length: 6 }, () => newProfile(api)));
    const view = { type: "page.viewed", properties: {} };
    await record(api, [
      ...people.flatMap(({ id }) => [
        { ...view, profile_id: id, occurred_at: "2026-01-01T10:00:00Z" },
        { ...view, profile_id: id, occurred_at: "2026-01-02T10:00:00Z" },
      ]),
      { ...view, identifier: { type: "device", value: "d-1" }, occurred_at: "2026-01-02T11:00:00Z" },
      { ...view, identifier: { type: "device", value: "d-1" }, occurred_at: "2026-01-02T12:00:00Z" },
    ]);
    const before = await aggregated(api, asked);
    expect(before.body.data.series).toEqual([{ group: {}, count: [6, 8], unique_profiles: [6, 6] }]);
    const uniques = async (body: object): Promise<number[]> =>
      (await api.post(path, body)).body.data.series[0].unique_profiles;
    const [a, b, c, d, e] = people;
    const merge = (into?: { path: string }, source?: { id: string }) =>
      api.post(`${into?.path}/merge`, { source_profile_id: source?.id });
    await merge(b, a);
    expect(await uniques(asked)).toEqual([5, 5]);
    await merge(c, b);
    await merge(d, e);
    expect(await uniques(asked)).toEqual([3, 3]);
    // The same where it is counted from the events.
    expect(await uniques({ ...asked, from: "2026-01-01T00:00:01Z", to: "2026-01-02T23:59:59Z" })).toEqual([3, 3]);
    expect(await uniques({ ...asked, filter: { "properties.none": null } })).toEqual([3, 3]);
    await newProfile(api, { identifiers: [{ type: "device", value: "d-1" }] });
    await eventually(async () => ((await uniques(asked)).join() === "3,4" ? true : undefined));
    expect(await uniques({ ...asked, interval: undefined })).toEqual([4]);
  });

  test("a metric answers from the 201 of its first event on, with zero as of before it", async () => {
    const api = await daybook().newProperty();
    const database = new pg.Client({ connectionString: daybook().databaseUrl });
    await database.connect();
    try {
      // Nothing is counted meanwhile.
      await database.query("BEGIN; LOCK TABLE metric.operations IN SHARE ROW EXCLUSIVE MODE");
      const at = new Date().toISOString();
      const body = { type: "first_seen", identifier: newEmail(), properties: {}, occurred_at: at };
      const event = (await api.post("/v1/events", body)).body.data;
      const range = { from: "2020-01-01T00:00:00Z", to: new Date(Date.now() + 86_400_000).toISOString().slice(0, 10) };
      const asked = { ...range, to: `${range.to}T00:00:00Z` };
      const answer = await api.post(path, { metric: "first_seen", ...asked });
      expect(answer.body.data?.series, answer.text).toEqual([{ group: {}, count: [0] }]);
      expect(answer.body.meta.as_of < event.received_at).toBe(true);
      const id = answer.body.data.metric_id;
      const expanded = [
        (await api.get(`/v1/events/${event.id}?expand=metric`)).body.data,
        ...(await api.get("/v1/events?expand=metric&filter[type]=first.seen")).body.data,
      ];
      expect(expanded.map(({ metric }) => metric)).toEqual(
        [1, 2].map(() => expect.objectContaining({ id, system: false })),
      );
      expect((await api.get("/v1/metrics?filter[name]=first.seen")).body.data).toHaveLength(1);
      expect((await api.get(`/v1/metrics/${id}`)).body.data).toMatchObject({ name: "first.seen", first_seen_at: null });
      expectError(await api.post(path, { metric: "never.seen", ...asked }), 404, "resource_not_found", "metric");
      await database.query("ROLLBACK");
      // The same metric counts it as soon as that can be.
      await eventually(async () => {
        const { body: later } = await api.post(path, { metric_id: id, ...asked });
        return later.data.series[0].count[0] === 1 ? true : undefined;
      });
      expect((await api.get(`/v1/metrics/${id}`)).body.data.first_seen_at).not.toBeNull();
    } finally {
      await database.query("ROLLBACK");
      await database.end();
    }
  });
});

describeOnce("groups and conditions of metric aggregates", (daybook) => {
  test("group by properties and choose by them, from the events themselves", async () => {
    const api = await daybook().newProperty();
    const at = { occurred_at: "2026-01-01T10:00:00Z" };
    const event = (properties: object | string, more: object = {}): object => ({
      type: "cart.updated",
      identifier: newEmail(),
      properties,
      ...at,
      ...more,
    });
    const body = JSON.stringify({
      events: [
        event({ plan: "pro", deep: { n: 1 } }),
        event({ plan: "pro", deep: { n: 2 } }, { value: "1.5", currency: "EUR" }),
        event({ plan: "free", list: ["x"] }),
        event({ plan: null }),
        event({}),
        event({ plan: true }),
        event({ plan: "NUMBER" }),
      ],
    }).replace('"NUMBER"', "1.0");
    await api.post("/v1/events/batch", body);
    await api.post("/v1/events/batch", body.replace("1.0", "1"));
    const range = { metric: "cart.updated", from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" };
    await aggregated(api, range);
    const counts = async (more: object): Promise<Record<string, number>> => {
      const answer = await api.post(path, { ...range, ...more });
      expect(answer.status, answer.text).toBe(200);
      return Object.fromEntries(
        answer.body.data.series.map(({ group, count }: { group: object; count: number[] }) => [
          JSON.stringify(Object.values(group)),
          count[0],
        ]),
      );
    };
    expect(await counts({ group_by: ["properties.plan"] })).toEqual({
      '["pro"]': 4,
      '["free"]': 2,
      "[null]": 4,
      "[true]": 2,
      "[1]": 2,
    });
    expect(await counts({ group_by: ["properties.deep.n", "currency"] })).toEqual({
      "[1,null]": 2,
      '[2,"EUR"]': 2,
      "[null,null]": 10,
    });
    expect(await counts({ filter: { "properties.plan": "pro" } })).toEqual({ "[]": 4 });
    expect(await counts({ filter: { "properties.plan": 1 } })).toEqual({ "[]": 2 });
    expect(await counts({ filter: { "properties.plan": "1" } })).toEqual({ "[]": 0 });
    expect(await counts({ filter: { "properties.plan": true } })).toEqual({ "[]": 2 });
    expect(await counts({ filter: { "properties.plan": null } })).toEqual({ "[]": 4 });
    for (const asked of [
      { filter: { "properties.list.0": "x" } },
      { filter: [{ field: ["properties", "list", "0"], value: "x" }] },
      { group_by: ["properties.list.0"] },
      { group_by: [["properties", "list", "0"]] },
    ]) {
      expectError(await api.post(path, { ...range, ...asked }), 400, "unsupported_group_by", expect.any(String));
    }
    expect(await counts({ filter: { source: "sdk" } })).toEqual({ "[]": 0 });
  });

  test("dots of a text lead into objects, and dots of a key in a list are its own", async () => {
    const api = await daybook().newProperty();
    const at = "2026-01-01T00:00:00Z";
    const properties = { "a.b": "dotted", a: { b: "nested", "c.d": { e: 1 } }, "list[]": "brackets", "": { "": 2 } };
    await api.post("/v1/events", { type: "a.b", identifier: newEmail(), properties, occurred_at: at });
    const range = { metric: "a.b", from: at, to: "2026-01-02T00:00:00Z" };
    for (const [field, name, value] of [
      ["properties.a.b", "properties.a.b", "nested"],
      [["properties", "a", "b"], "properties.a.b", "nested"],
      [["properties", "a.b"], "properties.a.b", "dotted"],
      [["properties", "a", "c.d", "e"], "properties.a.c.d.e", 1],
      [["properties", "list[]"], "properties.list[]", "brackets"],
      [["properties", "", ""], "properties..", 2],
      [["source"], "source", "api"],
    ] as const) {
      const grouped = await api.post(path, { ...range, group_by: [field] });
      expect(grouped.body.data?.series, grouped.text).toEqual([{ group: { [name]: value }, count: [1] }]);
      const countOf = async (wanted: unknown) => {
        const answer = await api.post(path, { ...range, filter: [{ field, value: wanted }] });
        return answer.body.data.series[0].count[0];
      };
      expect([await countOf(value), await countOf("another")]).toEqual([1, 0]);
    }
  });

  test("a hundred years, numbers of any size and keys of any name are answered", async () => {
    const api = await daybook().newProperty();
    const event = { type: "order.completed", identifier: newEmail(), occurred_at: "1970-01-01T00:00:00Z" };
    const huge = "1".repeat(40);
    const events = JSON.stringify({ events: [{ ...event, properties: { a: "N", __proto__x: 1, "d.e": 1 } }] });
    await api.post("/v1/events/batch", events.replace('"N"', huge).replace("__proto__x", "__proto__"));
    await api.post("/v1/events/batch", events.replace('"N"', "1e99999"));
    const years = { metric: "order.completed", from: "1926-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z" };
    const monthly = await aggregated(api, { ...years, interval: "month", timezone: "America/St_Johns" });
    expect(monthly.body.data.buckets).toHaveLength(12 * 101 + 1);
    expect(monthly.body.data.series[0].count.reduce((sum: number, count: number) => sum + count)).toBe(2);
    const grouped = await api.post(path, { ...years, group_by: ["properties.a", "properties.__proto__"] });
    expect(grouped.text).toContain(`"properties.a":${huge}`);
    expect(grouped.text).toContain('"properties.a":1e99999,"properties.__proto__":null');
    const chosen = (value: string) =>
      api.post(path, `{"filter":{"properties.a":${value}},${JSON.stringify(years).slice(1)}`);
    expect((await chosen(huge)).body.data.series[0].count).toEqual([1]);
    expect((await chosen(`${huge}.0`)).body.data.series[0].count).toEqual([1]);
    expect((await chosen("1e99999")).body.data.series[0].count).toEqual([1]);
    expect((await chosen("1e999999999")).body.data.series[0].count).toEqual([0]);
  });

  test("a hundred thousand groupings are refused as quickly as three, and a currency of any characters is only one that nobody has", async () => {
    const api = await daybook().newProperty();
    const asked = { metric: "order.completed", from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z" };
    await record(api, randomEvents(1, asked.from, asked.to, names(1)));
    await aggregated(api, asked);
    const groupings = Array.from({ length: 100_000 }, (_, index) => `properties.p${index}`);
    expectError(await api.post(path, { ...asked, group_by: groupings }), 400, "too_many_items", "group_by");
    for (const currency of ["a\nb", "\u0001", "\u0085", "ß"]) {
      const { status, body } = await api.post(path, { ...asked, filter: { currency } });
      expect([currency, status, body.data?.series[0].count]).toEqual([currency, 200, [0]]);
    }
  });
});
