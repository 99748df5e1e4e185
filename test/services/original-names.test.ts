/** Names of metrics as they were written where names are free text, and when metrics were made and changed. */
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { EventInputSchema } from "#proto/daybook/event/v1/event_pb.ts";
import type { Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import { describeEverywhere, testCall } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";

describeEverywhere("original names of metrics", (daybook) => {
  const counts = new Map<string, number>();
  /** Records an event, and gives its metric once it is counted. */
  const record = async (propertyId: string, metricName: string | undefined, properties: object = {}) => {
    const event = create(EventInputSchema, {
      type: "placed.order",
      propertiesJson: JSON.stringify(properties),
      source: "test",
      profile: { reference: { case: "identifier", value: { type: "email", value: "a@example.com" } } },
      ...(metricName === undefined ? {} : { metricName }),
    });
    const { events, metrics } = daybook().clients;
    const { results } = await events.recordEvents({ propertyId, events: [event] }, testCall);
    expect(results[0]?.outcome).toMatchObject({ case: "recorded" });
    const count = (counts.get(propertyId) ?? 0) + 1;
    counts.set(propertyId, count);
    return eventually(async (): Promise<Metric | undefined> => {
      const [metric] = (await metrics.getMetrics({ propertyId, names: ["placed.order"] }, testCall)).metrics;
      return Number(metric?.eventCount) === count ? metric : undefined;
    });
  };

  test("the first event with one names the metric, also one that was there without", async () => {
    const { propertyId } = await daybook().newProperty();
    const before = await record(propertyId, undefined);
    expect(before.originalName).toBeUndefined();
    const named = await record(propertyId, "Placed Order");
    expect(named.originalName).toBe("Placed Order");
    expect(named.createdAt).toEqual(before.createdAt);
    const later = await record(propertyId, "placed order!");
    expect(later.originalName).toBe("Placed Order");
    const list = await daybook().clients.metrics.listMetrics({ propertyId, name: "placed.order", limit: 1 }, testCall);
    expect(list.metrics[0]).toEqual(later);
  });

  test("updated_at follows what a metric shows, not its count", async () => {
    const { propertyId } = await daybook().newProperty();
    const { metrics } = daybook().clients;
    const at = ({ updatedAt }: Metric) => fromTimestamp(updatedAt ?? (undefined as never));
    const first = await record(propertyId, "Placed Order", { a: 1 });
    const counted = await record(propertyId, "Placed Order", { a: 2 });
    expect(at(counted)).toBe(at(first));
    const learned = await record(propertyId, "Placed Order", { b: 2 });
    expect(at(learned)).toBeGreaterThan(at(first));
    const describe = async (description: string) => {
      const { metric } = await metrics.updateMetric({ propertyId, metricId: first.id, description }, testCall);
      if (!metric) throw new Error("there is no metric");
      return metric;
    };
    const described = await describe("what was ordered");
    expect(at(described)).toBeGreaterThan(at(learned));
    expect(at(await describe("what was ordered"))).toBe(at(described));
    expect(described.createdAt).toEqual(first.createdAt);
  });
});
