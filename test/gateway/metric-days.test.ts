/** Sets of profiles of whole days agree with a recount of the stored events, also while events come late. */
import { expect, test } from "vitest";
import { decodeId } from "#shared/values/ids.ts";
import { describeOnMesh, testCall, type TestProperty } from "../support/daybook.ts";
import { queryRows } from "../support/database.ts";
import { newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";
import {
  aggregated,
  aggregatesPath,
  closeDays,
  expectAgreement,
  randomEvents,
  rebuilt,
  recordAll,
  strangers,
} from "../support/recount.ts";

const [from, to] = ["2026-03-18T03:07:11Z", "2026-04-09T19:59:59.5Z"];
const zones = ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe"];

describeOnMesh("metric aggregates", (daybook) => {
  const rows = <Row extends object>(api: TestProperty, text: string): Promise<Row[]> =>
    queryRows<Row>(daybook().databaseUrl, text, [decodeId("prop", api.propertyId, "property_id")]);

  async function expectAll(api: TestProperty): Promise<void> {
    for (const timezone of zones) {
      for (const interval of [undefined, "day", "week", "month"] as const) {
        await expectAgreement(daybook(), api, { interval, from, to, timezone });
      }
    }
    const groupBy = ["source", "currency"] as const;
    await expectAgreement(daybook(), api, { interval: "day", from, to, timezone: "Europe/Berlin", groupBy });
    await expectAgreement(daybook(), api, { interval: "hour", from, to, timezone: "UTC" });
  }

  test("agree with a recount once days are closed, while they open again, and when they are counted anew", async () => {
    const api = await daybook().newProperty();
    const known = await Promise.all(Array.from({ length: 6 }, () => newProfile(api)));
    const people = [...strangers(40), ...known.map(({ id }) => ({ profile_id: id }))];
    const asked = { metric: "order.completed", from, to };
    await recordAll(api, randomEvents(1_500, from, to, people));
    await aggregated(api, asked);
    await closeDays(daybook(), api);
    const days = await rows<{ days: number }>(
      api,
      "SELECT count(DISTINCT period)::int AS days FROM metric.rollup_profiles WHERE property_id = $1 AND minutes = 1440",
    );
    expect(days).toEqual([{ days: 23 }]);
    await expectAll(api);

    // Late events, while each day is closed again as soon as it opens.
    const recording = new AbortController();
    const closing = (async () => {
      while (!recording.signal.aborted) await closeDays(daybook(), api);
    })();
    try {
      for (let turn = 0; turn < 12; turn++) {
        await recordAll(api, randomEvents(40, from, to, [...people, ...strangers(5)]));
      }
      await aggregated(api, asked);
      await expectAll(api);
    } finally {
      recording.abort();
      await closing;
    }
    const [one, other] = known;
    expect((await api.post(`${one?.path}/merge`, { source_profile_id: other?.id })).status).toBe(200);
    await expectAll(api);

    await daybook().clients.metrics.rebuildRollups({ propertyId: api.propertyId }, testCall);
    await rebuilt(daybook(), api.propertyId);
    await expectAll(api);
    await closeDays(daybook(), api);
    await expectAll(api);
    const generations = "SELECT DISTINCT generation FROM metric.rollup_profiles WHERE property_id = $1";
    await eventually(async () => ((await rows(api, generations)).length === 1 ? true : undefined));
  });

  test("are made of the sets of whole days where there are some", async () => {
    const api = await daybook().newProperty();
    const range = { from: "2026-03-01T00:00:00Z", to: "2026-03-04T00:00:00Z" };
    const events = ["2026-03-01T00:00:00Z", "2026-03-02T04:00:00Z", "2026-03-03T23:59:59Z"].map((occurred_at) => ({
      type: "order.completed",
      properties: {},
      occurred_at,
      ...strangers(1)[0],
    }));
    await recordAll(api, events);
    await aggregated(api, { metric: "order.completed", ...range });
    await closeDays(daybook(), api);
    // Whoever read the quarters of an hour would find nobody.
    await rows(api, "DELETE FROM metric.rollup_profiles WHERE property_id = $1 AND minutes = 15");
    const unique = async (more: object): Promise<number[]> => {
      const body = { metric: "order.completed", measurements: ["unique_profiles"], ...range, ...more };
      return (await api.post(aggregatesPath, body)).body.data.series[0].unique_profiles;
    };
    expect(await unique({})).toEqual([3]);
    expect(await unique({ interval: "day" })).toEqual([1, 1, 1]);
    // A day here is 21:00 to 21:00 in UTC, which are periods of three hours.
    expect(await unique({ interval: "day", timezone: "Asia/Baghdad", from: "2026-03-01T21:00:00Z" })).toEqual([
      1, 0, 1,
    ]);
    // What is counted opens its day: only its quarter of an hour is there.
    await recordAll(api, [{ ...events[1], occurred_at: "2026-03-02T12:00:00Z" }, events[1] as object]);
    await aggregated(api, { metric: "order.completed", ...range });
    expect(await unique({ interval: "day" })).toEqual([1, 1, 1]);
    const [open] = await rows<{ days: number }>(
      api,
      "SELECT count(*)::int AS days FROM metric.open_days WHERE property_id = $1 AND day < '2026-04-01'",
    );
    expect(open).toEqual({ days: 1 });
  });

  test("a day that cannot be closed holds up no other, and is tried again later", async () => {
    const api = await daybook().newProperty();
    const events = ["2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"].map((occurred_at) => ({
      type: "order.completed",
      properties: {},
      occurred_at,
      ...strangers(1)[0],
    }));
    await recordAll(api, events);
    await aggregated(api, { metric: "order.completed", from: "2026-03-01T00:00:00Z", to: "2026-03-04T00:00:00Z" });
    const broken = "WHERE property_id = $1 AND period = '2026-03-01'";
    const [good] = await rows<{ profiles: Buffer }>(api, `SELECT profiles FROM metric.rollup_profiles ${broken}`);
    await rows(api, `UPDATE metric.rollup_profiles SET profiles = '\\x00' ${broken}`);
    await rows(api, "UPDATE metric.open_days SET opened_at = '2026-01-01' WHERE property_id = $1");
    const open = (): Promise<{ day: string; is_old: boolean }[]> =>
      rows(
        api,
        `SELECT to_char(day AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, opened_at < '2026-01-02' AS is_old
         FROM metric.open_days WHERE property_id = $1 AND day < '2026-04-01' ORDER BY day`,
      );
    await eventually(async () => {
      const days = await open();
      return days.length === 1 && days[0]?.is_old === false ? true : undefined;
    });
    expect(await open()).toEqual([{ day: "2026-03-01", is_old: false }]);
    const hex = good?.profiles.toString("hex");
    await rows(api, `UPDATE metric.rollup_profiles SET profiles = '\\x${hex}' ${broken}`);
    await closeDays(daybook(), api);
    expect(await open()).toEqual([]);
  });
});
