import { formatTimestamp } from "#shared/values/time.ts";
import { aggregateJson, toAggregateParam, toAggregateRequest } from "../convert/aggregates.ts";
import { answerData } from "../envelope.ts";
import { exampleIds } from "../examples.ts";
import { operation, route } from "../operation.ts";
import { MetricAggregate } from "../resources.ts";
import { MetricAggregateCreate } from "../metric-schemas.ts";
import { createReader } from "../../validation.ts";

const aggregate = operation("metrics:read", {
  id: "aggregateMetric",
  tag: "Metrics",
  summary: "Count the events of a metric over time",
  description:
    "How many events there were, the exact sum of their values, how many profiles they belong to. Buckets part the " +
    "range at the hours, days, weeks (from Monday) or months of the time zone; the first begins at `from`. Sums " +
    "never mix currencies: without a currency chosen the answer is grouped by it. Merged profiles are one. Every " +
    "event that was received up to `meta.as_of` is counted, none twice. A metric answers from the 201 of its first " +
    "event on.\n\n" +
    "Grouping and filtering by paths of properties reads the events themselves, at most 200,000 of them. A path " +
    "through an array is refused with `unsupported_group_by`, in `group_by` and in `filter`. An answer has at most " +
    "10,000 buckets, 1,000 series, and 100,000 values of each measurement. Two are counted at a time for a property, " +
    "and others wait for up to 5 seconds; one that would wait longer is answered 429.",
  body: createReader(MetricAggregateCreate),
  reads: true,
  data: MetricAggregate,
  success: { 200: "The answer" },
  errors: ["invalid_id", "parameter_conflict", "resource_not_found", "too_many_items", "unsupported_group_by"],
  examples: {
    bodies: {
      "Orders and revenue by day, in euros": {
        metric: "order.completed",
        measurements: ["count", "sum_value"],
        interval: "day",
        from: "2026-11-01T00:00:00Z",
        to: "2026-11-03T00:00:00Z",
        timezone: "UTC",
        filter: { currency: "EUR" },
      },
      "Customers by source, in one total": {
        metric_id: exampleIds.metric,
        measurements: ["unique_profiles"],
        from: "2026-11-01T00:00:00Z",
        to: "2026-12-01T00:00:00Z",
        group_by: ["source"],
      },
      "By a property whose name has a dot": {
        metric: "order.completed",
        from: "2026-11-01T00:00:00Z",
        to: "2026-12-01T00:00:00Z",
        group_by: [["properties", "utm.source"]],
        filter: [{ field: ["properties", "order_id"], value: "1001" }],
      },
    },
    data: {
      object: "metric_aggregate",
      metric_id: exampleIds.metric,
      name: "order.completed",
      interval: "day",
      timezone: "UTC",
      from: "2026-11-01T00:00:00.000000Z",
      to: "2026-11-03T00:00:00.000000Z",
      buckets: ["2026-11-01T00:00:00.000000Z", "2026-11-02T00:00:00.000000Z"],
      series: [{ group: {}, count: [0, 2], sum_value: ["0", "74.85"] }],
      recency: {
        first_occurred_at: "2026-11-02T09:30:00.000000Z",
        last_occurred_at: "2026-11-02T16:05:00.000000Z",
        last_received_at: "2026-11-02T16:05:00.250000Z",
      },
    },
  },
});

export const metricAggregateRoutes = [
  route("POST", "/metric-aggregates", aggregate, async (exchange) => {
    const { propertyId, services, body } = exchange;
    const answer = await services.metrics.aggregateMetric(toAggregateRequest(propertyId, body), toAggregateParam(body));
    if (!answer.asOf) throw new Error("an answer is as of an instant");
    return answerData(exchange, aggregateJson(body, answer), { as_of: formatTimestamp(answer.asOf) });
  }),
];
