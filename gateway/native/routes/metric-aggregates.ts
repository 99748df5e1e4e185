import type { FastifyInstance } from "fastify";
import { calling, callOptions } from "#shared/interceptors.ts";
import { formatTimestamp } from "#shared/time.ts";
import { callerOf, callOf } from "../../plugins/request.ts";
import type { NativeContext } from "../context.ts";
import { aggregateJson, toAggregateRequest } from "../convert/aggregates.ts";
import { sendData } from "../envelope.ts";
import { operation } from "../operation.ts";
import { queryOf } from "../query.ts";
import { MetricAggregate } from "../resources.ts";
import { MetricAggregateCreate } from "../schemas.ts";
import { createReader } from "../validation.ts";

const reader = createReader(MetricAggregateCreate);

const aggregate = operation("metrics:read", {
  id: "aggregateMetric",
  tag: "Metrics",
  summary: "Count the events of a metric over time",
  description:
    "How many events there were, the exact sum of their values, how many profiles they belong to. Buckets part the range at the hours, days, " +
    "weeks (from Monday) or months of the time zone; the first begins at `from`. Sums never mix currencies: without a currency chosen the " +
    "answer is grouped by it. Merged profiles are one. Every event that was received up to `meta.as_of` is counted, none twice.\n\n" +
    "Grouping and filtering by `properties.<path>` reads the events themselves, at most 200,000 of them. An answer has at most 10,000 " +
    "buckets, 1,000 series, and 100,000 values of each measurement.",
  body: [MetricAggregateCreate],
  reads: true,
  data: MetricAggregate,
  success: { 200: "The answer" },
  errors: ["invalid_id", "parameter_conflict", "resource_not_found", "too_many_items"],
});

export function metricAggregateRoutes(app: FastifyInstance, { clients }: NativeContext): void {
  app.post("/metric-aggregates", aggregate, async (request, reply) => {
    queryOf(request);
    const body = reader.read(request.body);
    const { propertyId } = callerOf(request);
    const asked = clients.metrics.aggregateMetric(toAggregateRequest(propertyId, body), callOptions(callOf(request)));
    const answer = await calling(asked);
    if (!answer.asOf) throw new Error("an answer is as of an instant");
    return sendData(request, reply, aggregateJson(body, answer), { as_of: formatTimestamp(answer.asOf) });
  });
}
