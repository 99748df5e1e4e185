/** What the overview shows: activity by day and by minute, and a line for each metric. */
import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { EventInputSchema } from "#proto/daybook/event/v1/event_pb.ts";
import { newId } from "#shared/values/ids.ts";
import { describeOnce, testCall } from "../support/daybook.ts";
import { newProfile } from "../support/people.ts";
import { eventually } from "../support/processes.ts";

const timezone = "Pacific/Auckland";
const microsOf = (at?: Timestamp): bigint => (at ? at.seconds * 1_000_000n + BigInt(at.nanos / 1000) : 0n);

/** The start of the day `ago` days before today. */
function dayStart(ago: number): bigint {
  const day = Temporal.Now.zonedDateTimeISO(timezone).toPlainDate().subtract({ days: ago });
  return day.toZonedDateTime(timezone).epochNanoseconds / 1000n;
}

/** The last instant before a day, or an instant within it. */
const at = (micros: bigint): string => Temporal.Instant.fromEpochNanoseconds(micros * 1000n).toString();

describeOnce("the overview of a property", (daybook) => {
  const record = async (
    propertyId: string,
    events: { type: string; occurredAt?: string; value?: string; currency?: string }[],
  ) => {
    const inputs = events.map((event) =>
      create(EventInputSchema, {
        propertiesJson: "{}",
        source: "api",
        profile: { reference: { case: "identifier", value: { type: "card", value: "1" } } },
        ...event,
      }),
    );
    const { results } = await daybook().clients.events.recordEvents({ propertyId, events: inputs }, testCall);
    expect(results.filter(({ outcome }) => outcome.case !== "recorded")).toEqual([]);
  };

  test("has the days of its time zone, exact values by currency, and new profiles", async () => {
    const api = await daybook().newProperty();
    const { propertyId } = api;
    const { metrics } = daybook().clients;
    const describe = (fields = {}) => metrics.describeActivity({ propertyId, days: 3, timezone, ...fields }, testCall);
    const empty = await describe();
    expect(empty).toMatchObject({ events: [0n, 0n, 0n], values: [], newProfiles: [0n, 0n, 0n] });
    expect(empty.dayStarts.map(microsOf)).toEqual([2, 1, 0].map(dayStart));
    await newProfile(api);
    await newProfile(api);
    const [today, yesterday, before] = [dayStart(0), dayStart(1), dayStart(2)];
    await record(propertyId, [
      { type: "order.placed", occurredAt: at(today), value: "0.1", currency: "EUR" },
      { type: "order.placed", occurredAt: at(today), value: "123456789012345678.00000001", currency: "EUR" },
      { type: "order.placed", occurredAt: at(today - 1n), value: "5", currency: "USD" },
      { type: "page.viewed", occurredAt: at(yesterday) },
      { type: "page.viewed", occurredAt: at(before), value: "-7.50", currency: "EUR" },
      // Outside of the three days.
      { type: "page.viewed", occurredAt: at(before - 1n), value: "1", currency: "EUR" },
      { type: "page.viewed", occurredAt: at(dayStart(-1)) },
    ]);
    const found = await eventually(async () => {
      const answer = await describe({ withoutSystem: true });
      const total = answer.events.reduce((sum, count) => sum + count, 0n);
      return total === 5n && answer.newProfiles[2] === 2n ? answer : undefined;
    });
    expect(found).toMatchObject({
      events: [1n, 2n, 2n],
      values: [
        { currency: "EUR", sums: ["-7.50", "0", "123456789012345678.10000001"] },
        { currency: "USD", sums: ["0", "5", "0"] },
      ],
      newProfiles: [0n, 0n, 2n],
    });
    expect(microsOf(found.asOf)).toBeGreaterThan(0n);
    expect((await describe()).events).toEqual([1n, 2n, 4n]);

    const { metrics: known } = await metrics.listMetrics({ propertyId, limit: 10 }, testCall);
    const ids = known.map(({ id }) => id);
    const asked = [...ids, newId("mtr"), ids[0] ?? ""];
    const lines = await metrics.listSparklines({ propertyId, metricIds: asked, days: 3, timezone }, testCall);
    const nameOf = new Map(known.map(({ id, name }) => [id, name]));
    expect(Object.fromEntries(lines.sparklines.map(({ metricId, counts }) => [nameOf.get(metricId), counts]))).toEqual({
      "order.placed": [0n, 1n, 2n],
      "page.viewed": [1n, 1n, 0n],
      "profile.created": [0n, 0n, 2n],
    });
    expect(lines.sparklines.map(({ metricId }) => metricId)).toEqual(ids);
    const other = await daybook().newProperty();
    const foreign = { propertyId: other.propertyId, metricIds: ids, days: 3, timezone };
    expect((await metrics.listSparklines(foreign, testCall)).sparklines).toEqual([]);
  });

  test("refuses days and time zones that there are not", async () => {
    const { propertyId } = await daybook().newProperty();
    const { metrics } = daybook().clients;
    const metricIds = [newId("mtr")];
    for (const [param, fields] of [
      ["days", { days: 0, timezone }],
      ["days", { days: 91, timezone }],
      ["timezone", { days: 1, timezone: "Mars/Olympus" }],
    ] as const) {
      await expect(metrics.describeActivity({ propertyId, ...fields }, testCall)).rejects.toMatchObject({ param });
      const call = metrics.listSparklines({ propertyId, metricIds, ...fields }, testCall);
      await expect(call).rejects.toMatchObject({ param });
    }
    for (const many of [[], Array.from({ length: 101 }, () => newId("mtr"))]) {
      const call = metrics.listSparklines({ propertyId, metricIds: many, days: 1, timezone }, testCall);
      await expect(call).rejects.toMatchObject({ param: "metric_ids" });
    }
  });
});
