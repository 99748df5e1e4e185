import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Metric as MetricMessage } from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { calling, callOptions } from "#shared/rpc/interceptors.ts";
import { operationOf } from "../../plugins/idempotency.ts";
import { callerOf, callOf } from "../../plugins/request.ts";
import type { NativeContext } from "../context.ts";
import { metricJson } from "../convert/metrics.ts";
import { sendData } from "../envelope.ts";
import { exampleMetric } from "../examples.ts";
import { operation } from "../operation.ts";
import { openPage } from "../paging.ts";
import { queryOf, readBody } from "../query.ts";
import { Metric } from "../resources.ts";
import { MetricCreate, MetricUpdate } from "../metric-schemas.ts";
import { createReader } from "../../validation.ts";

const createBody = createReader(MetricCreate);
const updateBody = createReader(MetricUpdate);

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
    "Its schema is empty and its first_seen_at null until events of that type come, which it then counts. At most 10,000 metrics of a property " +
    "are registered so; further ones are refused with too_many_items.",
  body: [MetricCreate],
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
  body: [MetricUpdate],
  data: Metric,
  success: { 200: "The metric after the write" },
  errors: ["invalid_id", "resource_not_found", "metric_read_only"],
  examples: {
    bodies: { "A description": { description: "Paid orders" }, "No description any more": { description: null } },
    data: { ...exampleMetric, description: "Paid orders" },
  },
});

type WithId = { Params: { id: string } };

export function metricRoutes(app: FastifyInstance, { clients, cursors }: NativeContext): void {
  app.get("/metrics", list, async (request, reply) => {
    const query = queryOf(request);
    const { propertyId } = callerOf(request);
    const name = query.filters.get("name");
    const source = query.filters.get("source");
    const system = query.filters.get("system");
    const page = openPage(request, query, cursors, "metrics");
    const { metrics, hasMore } = await calling(
      clients.metrics.listMetrics(
        {
          propertyId,
          limit: query.limit,
          name,
          source,
          system: system === undefined ? undefined : system === "true",
          afterMetricId: page.after,
        },
        callOptions(callOf(request)),
      ),
    );
    return sendData(request, reply, `[${metrics.map(metricJson).join(",")}]`, page.meta(hasMore, metrics.at(-1)?.id));
  });

  app.post("/metrics", create, async (request, reply) => {
    const { name, description } = readBody(request, createBody);
    const { propertyId } = callerOf(request);
    const { metric } = await calling(
      clients.metrics.createMetric(
        { propertyId, name, ...(typeof description === "string" ? { description } : {}), ...operationOf(request) },
        callOptions(callOf(request)),
      ),
    );
    void reply.code(201).header("location", `/v1/metrics/${metric?.id}`);
    return sendWritten(request, reply, metric);
  });

  app.get<WithId>("/metrics/:id", read, async (request, reply) => {
    queryOf(request);
    decodeId("mtr", request.params.id, "id");
    const { propertyId } = callerOf(request);
    const { metrics } = await calling(
      clients.metrics.getMetrics({ propertyId, metricIds: [request.params.id] }, callOptions(callOf(request))),
    );
    const [metric] = metrics;
    if (!metric) throw new DaybookError("resource_not_found", "There is no such metric.", { param: "id" });
    return sendData(request, reply, metricJson(metric));
  });

  app.patch<WithId>("/metrics/:id", update, async (request, reply) => {
    const { id: metricId } = request.params;
    decodeId("mtr", metricId, "id");
    const { description } = readBody(request, updateBody);
    const { propertyId } = callerOf(request);
    const { metric } = await calling(
      clients.metrics.updateMetric(
        { propertyId, metricId, description: description ?? undefined, ...operationOf(request) },
        callOptions(callOf(request)),
      ),
      (param) => (param === "metric_id" ? "id" : param),
    );
    return sendWritten(request, reply, metric);
  });
}

function sendWritten(request: FastifyRequest, reply: FastifyReply, metric: MetricMessage | undefined): FastifyReply {
  if (!metric) throw new Error("the metric was not returned");
  return sendData(request, reply, metricJson(metric));
}
