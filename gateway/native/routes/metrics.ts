import type { Metric as MetricMessage } from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { operationOf } from "../../plugins/idempotency.ts";
import { metricJson } from "#shared/wire/metrics.ts";
import { answerData } from "../envelope.ts";
import { exampleMetric } from "../examples.ts";
import { operation, route } from "../operation.ts";
import { openPage } from "../paging.ts";
import { Metric } from "../resources.ts";
import { MetricCreate, MetricUpdate } from "../metric-schemas.ts";
import type { Exchange } from "../../surface/exchange.ts";
import { createReader } from "../../validation.ts";

const list = operation("metrics:read", {
  id: "listMetrics",
  tag: "Metrics",
  summary: "List metrics, oldest first",
  query: {
    filters: {
      name: "The metric of this event type",
      source: "Metrics whose first event came from this source",
      system: { description: "Metrics that are, or are not, the platform's own", oneOf: ["true", "false"] },
    },
    paged: true,
  },
  data: Metric,
  list: true,
  success: { 200: "A page of metrics" },
  examples: {
    query: {
      "filter[name]": "order.completed",
      "filter[source]": "api",
      "filter[system]": "false",
      "page[limit]": "10",
    },
    data: [exampleMetric],
  },
});

const read = operation("metrics:read", {
  id: "getMetric",
  tag: "Metrics",
  summary: "Read a metric",
  data: Metric,
  success: { 200: "The metric" },
  errors: ["invalid_id", "resource_not_found"],
  examples: { data: exampleMetric },
});

const create = operation("metrics:write", {
  id: "createMetric",
  tag: "Metrics",
  summary: "Register a metric before its first event",
  description:
    "Its schema is empty and its first_seen_at null until events of that type come, which it then counts. At most " +
    "10,000 metrics of a property are registered so; further ones are refused with too_many_items.",
  body: createReader(MetricCreate),
  data: Metric,
  success: { 201: "The metric registered" },
  errors: ["invalid_event_type", "reserved_event_type", "metric_exists", "too_many_items"],
  examples: {
    bodies: { "A metric to come": { name: "loyalty.joined", description: "Joined the loyalty programme" } },
    data: {
      ...exampleMetric,
      name: "loyalty.joined",
      source: null,
      description: "Joined the loyalty programme",
      first_seen_at: null,
      schema: {},
    },
  },
});

const update = operation("metrics:write", {
  id: "updateMetric",
  tag: "Metrics",
  summary: "Describe a metric",
  description: "null takes the description away. Those of the platform's own metrics stay as they are.",
  body: createReader(MetricUpdate),
  data: Metric,
  success: { 200: "The metric after the write" },
  errors: ["invalid_id", "resource_not_found", "metric_read_only"],
  examples: {
    bodies: { "A description": { description: "Paid orders" }, "No description any more": { description: null } },
    data: { ...exampleMetric, description: "Paid orders" },
  },
});

export const metricRoutes = [
  route("GET", "/metrics", list, async (exchange) => {
    const { query, propertyId, services } = exchange;
    const { filters, limit } = query;
    const system = filters.get("system");
    const page = openPage(exchange, "metrics");
    const { metrics, hasMore } = await services.metrics.listMetrics({
      propertyId,
      limit,
      name: filters.get("name"),
      source: filters.get("source"),
      system: system === undefined ? undefined : system === "true",
      afterMetricId: page.after,
    });
    return answerData(exchange, `[${metrics.map(metricJson).join(",")}]`, page.meta(hasMore, metrics.at(-1)?.id));
  }),

  route("POST", "/metrics", create, async (exchange) => {
    const { request, reply, propertyId, services, body } = exchange;
    const description = body.description ?? undefined;
    const { metric } = await services.metrics.createMetric({
      propertyId,
      name: body.name,
      description,
      ...operationOf(request),
    });
    void reply.code(201).header("location", `/v1/metrics/${metric?.id}`);
    return answerMetric(exchange, metric);
  }),

  route("GET", "/metrics/:id", read, async (exchange) => {
    const { ids, propertyId, services } = exchange;
    const { metrics } = await services.metrics.getMetrics({ propertyId, metricIds: [ids.id] });
    const [metric] = metrics;
    if (!metric) throw new DaybookError("resource_not_found", "There is no such metric.", { param: "id" });
    return answerMetric(exchange, metric);
  }),

  route("PATCH", "/metrics/:id", update, async (exchange) => {
    const { request, ids, propertyId, services, body } = exchange;
    const description = body.description ?? undefined;
    const { metric } = await services.metrics.updateMetric(
      { propertyId, metricId: ids.id, description, ...operationOf(request) },
      (param) => (param === "metric_id" ? "id" : param),
    );
    return answerMetric(exchange, metric);
  }),
];

function answerMetric(exchange: Exchange, metric: MetricMessage | undefined): string {
  if (!metric) throw new Error("the metric was not returned");
  return answerData(exchange, metricJson(metric));
}
