/** Events that are counted anew, or late, or while others come, are counted once. */
import pg from "pg";
import { expect, test } from "vitest";
import { decodeId } from "#shared/values/ids.ts";
import { describeOnMesh, testCall } from "../support/daybook.ts";
import { newEmail, newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";
import {
  aggregated,
  aggregatesPath as path,
  expectAgreement,
  randomEvents,
  rebuilt,
  recordAll as record,
  strangers as names,
} from "../support/recount.ts";

const all = ["count", "sum_value", "unique_profiles"];

describeOnMesh("metric aggregates", (daybook) => {
  test("what is counted anew is not counted again when its messages come late, and merges count before those do", async () => {
    const api = await daybook().newProperty();
    const range = { from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z" };
    await record(api, randomEvents(10, range.from, range.to, names(5)));
    const asked = { metric: "order.completed", ...range };
    const [before] = (await aggregated(api, asked)).body.data.series[0].count;
    await api.post("/v1/metrics", { name: "late.comer" });
    const database = new pg.Client({ connectionString: daybook().databaseUrl });
    await database.connect();
    try {
      // Nobody can take a message meanwhile.
      await database.query("BEGIN; LOCK TABLE metric.operations IN SHARE ROW EXCLUSIVE MODE");
      const [one, other] = [await newProfile(api), await newProfile(api)];
      const late = (type: string) =>
        [one, other].map(({ id }) => ({ type, properties: {}, occurred_at: range.from, profile_id: id }));
      await record(api, [...late("order.completed"), ...late("late.comer")]);
      expect((await api.post(`${one.path}/merge`, { source_profile_id: other.id })).status).toBe(200);
      // Counted from the events, as the roll-ups know nothing of either yet.
      const measurements = ["count", "unique_profiles"];
      const edge = { metric: "late.comer", measurements, from: range.from, to: "2026-01-01T00:10:00Z" };
      expect((await api.post(path, edge)).body.data.series).toEqual([{ group: {}, count: [2], unique_profiles: [1] }]);
      await daybook().clients.metrics.rebuildRollups({ propertyId: api.propertyId }, testCall);
      await rebuilt(daybook(), api.propertyId);
      expect((await api.post(path, asked)).body.data.series[0].count).toEqual([before + 2]);
    } finally {
      await database.query("ROLLBACK");
      await database.end();
    }
    const { body } = await aggregated(api, asked);
    expect(body.data.series[0].count).toEqual([before + 2]);
    const { metrics } = await daybook().clients.metrics.getMetrics(
      { propertyId: api.propertyId, names: ["order.completed"] },
      testCall,
    );
    expect(Number(metrics[0]?.eventCount)).toBe(12);
  });

  test("as_of is true while others record", async () => {
    const api = await daybook().newProperty();
    const received: string[] = [];
    const recording = new AbortController();
    const writers = Array.from({ length: 8 }, async () => {
      while (!recording.signal.aborted) {
        const { body } = await api.post("/v1/events", { type: "tick.tock", identifier: newEmail(), properties: {} });
        received.push(body.data.received_at);
      }
    });
    const range = { from: "2026-01-01T00:00:00Z", to: "2027-06-01T00:00:00Z" };
    await eventually(async () =>
      (await api.post(path, { metric: "tick.tock", ...range })).status === 200 ? true : undefined,
    );
    let compared = 0;
    for (let turn = 0; turn < 60; turn++) {
      const { body } = await api.post(path, { metric: "tick.tock", ...range });
      const known = received.filter((at) => at <= body.meta.as_of).length;
      compared = Math.max(compared, known);
      expect(body.data.series[0].count[0]).toBeGreaterThanOrEqual(known);
    }
    recording.abort();
    await Promise.all(writers);
    expect(compared).toBeGreaterThan(0);
    const { body } = await aggregated(api, { metric: "tick.tock", ...range });
    expect(body.data.series[0].count[0]).toBe(received.length);
  });

  test("what is recorded while counting anew has to wait for its property is counted once", async () => {
    const api = await daybook().newProperty();
    const people = [{ profile_id: (await newProfile(api)).id }];
    const asked = { metric: "order.completed", from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z" };
    const event = { type: "order.completed", properties: {}, occurred_at: asked.from, ...people[0] };
    await record(api, [event]);
    await aggregated(api, asked);
    const database = new pg.Client({ connectionString: daybook().databaseUrl });
    await database.connect();
    let recorded = 1;
    try {
      const property = decodeId("prop", api.propertyId, "property_id");
      await database.query("BEGIN");
      await database.query("SELECT FROM metric.properties WHERE property_id = $1 FOR UPDATE", [property]);
      const rebuilding = daybook().clients.metrics.rebuildRollups({ propertyId: api.propertyId }, testCall);
      // Longer than what is received from then on is added to both.
      for (const deadline = Date.now() + 3_000; Date.now() < deadline; recorded++) await record(api, [event]);
      await database.query("COMMIT");
      await rebuilding;
    } finally {
      await database.end();
    }
    await rebuilt(daybook(), api.propertyId);
    expect((await aggregated(api, asked)).body.data.series[0].count).toEqual([recorded]);
  });

  test("counting all events anew changes nothing, also while others record", async () => {
    const api = await daybook().newProperty();
    const [from, to] = ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"];
    const people = names(30);
    await record(api, randomEvents(2_000, from, to, people));
    const asked = {
      metric: "order.completed",
      measurements: all,
      interval: "day",
      from,
      to,
      timezone: "Europe/Berlin",
    };
    const before = await aggregated(api, asked);
    const request = { propertyId: api.propertyId };
    const { properties } = await daybook().clients.metrics.rebuildRollups(request, testCall);
    expect(properties).toBe(1);
    const recording = new AbortController();
    const writers = Array.from({ length: 3 }, async () => {
      for (let turn = 0; !recording.signal.aborted || turn < 3; turn++)
        await record(api, randomEvents(20, to, "2026-03-01T00:00:00Z", people));
    });
    await rebuilt(daybook(), api.propertyId);
    // Begun anew in the middle of it.
    await daybook().clients.metrics.rebuildRollups(request, testCall);
    await daybook().clients.metrics.rebuildRollups(request, testCall);
    await rebuilt(daybook(), api.propertyId);
    recording.abort();
    await Promise.all(writers);
    expect((await aggregated(api, asked)).body.data).toMatchObject({
      buckets: before.body.data.buckets,
      series: before.body.data.series,
    });
    await expectAgreement(daybook(), api, { interval: "day", from, to: "2026-03-01T00:00:00Z", timezone: "UTC" });
    const { metrics } = await daybook().clients.metrics.getMetrics(
      { ...request, names: ["order.completed"] },
      testCall,
    );
    const { body } = await api.post(path, {
      metric: "order.completed",
      from: "2020-01-01T00:00:00Z",
      to: "2030-01-01T00:00:00Z",
    });
    expect(Number(metrics[0]?.eventCount)).toBe(body.data.series[0].count[0]);
  });
});
