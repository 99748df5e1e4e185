/** Aggregates in time zones agree with a recount of the stored events. */
import { expect, test } from "vitest";
import { describeOnce } from "../support/daybook.ts";
import {
  aggregated,
  aggregatesPath as path,
  expectAgreement,
  randomEvents,
  recordAll as record,
  strangers as names,
} from "../support/recount.ts";

const hourMs = 3_600_000;

describeOnce("metric aggregates", (daybook) => {
  const zones: [string, string, string][] = [
    // Each range holds a change of the clock in its zone, and neither begins nor ends on a whole quarter of an hour.
    ["UTC", "2026-02-25T03:07:11.000123Z", "2026-03-12T19:59:59.5Z"],
    ["Europe/Berlin", "2026-03-25T10:02:00Z", "2026-04-03T10:01:00Z"],
    ["Europe/Berlin", "2026-10-20T00:00:00+02:00", "2026-11-02T00:00:00+01:00"],
    ["America/St_Johns", "2026-03-01T00:00:00-03:30", "2026-03-15T01:20:00Z"],
    ["America/St_Johns", "2026-10-27T12:34:56.789Z", "2026-11-09T00:00:00Z"],
    ["Asia/Kathmandu", "2026-05-30T00:00:00Z", "2026-06-04T00:00:00Z"],
    ["Australia/Lord_Howe", "2026-04-01T00:00:00Z", "2026-04-08T00:00:00Z"],
    // Put on by half an hour, half an hour before midnight.
    ["Asia/Pyongyang", "2018-05-03T00:00:00Z", "2018-05-06T00:00:00Z"],
  ];

  test.each(zones)("agree with a recount in %s from %s", async (timezone, from, to) => {
    const api = await daybook().newProperty();
    await record(api, randomEvents(1_500, from, to, names(40)));
    await aggregated(api, { metric: "order.completed", from, to });
    // Where a clock goes back by half an hour PostgreSQL's truncation to hours takes the half hours for one.
    const hour = timezone === "Australia/Lord_Howe" ? [] : (["hour"] as const);
    for (const interval of [undefined, ...hour, "day", "week", "month"] as const) {
      await expectAgreement(daybook(), api, { interval, from, to, timezone });
    }
    await expectAgreement(daybook(), api, { interval: "day", from, to, timezone, groupBy: ["source", "currency"] });
    // A range within one quarter of an hour.
    const begin = new Date(Date.parse(from) - (Date.parse(from) % hourMs) + hourMs).toISOString();
    const end = new Date(Date.parse(begin) + hourMs).toISOString();
    const { body } = await api.post(path, { metric: "order.completed", from: begin, to: end });
    const inner = new Date(Date.parse(begin) + 60_000).toISOString();
    const parts = await Promise.all(
      [
        [begin, inner],
        [inner, end],
      ].map(([first, last]) => api.post(path, { metric: "order.completed", from: first, to: last })),
    );
    expect(parts.reduce((sum, part) => sum + part.body.data.series[0].count[0], 0)).toBe(body.data.series[0].count[0]);
  });
});
