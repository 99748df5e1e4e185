import type { FastifyInstance } from "fastify";
import { DaybookError } from "#shared/errors.ts";
import { decodeId } from "#shared/ids.ts";
import { calling, callOptions } from "#shared/interceptors.ts";
import { callerOf, callOf } from "../../plugins/request.ts";
import type { NativeContext } from "../context.ts";
import { metricJson } from "../convert/metrics.ts";
import { sendData } from "../envelope.ts";
import { operation } from "../operation.ts";
import { openPage } from "../paging.ts";
import { queryOf } from "../query.ts";
import { Metric } from "../resources.ts";

const list = operation("metrics:read", {
  id: "listMetrics",
  tag: "Metrics",
  summary: "List metrics, oldest first",
  query: {
    filters: {
      name: "The metric of this event type",
      source: "Metrics whose first event came from this source",
      system: "true or false: metrics that are, or are not, the platform's own",
    },
    paged: true,
  },
  data: Metric,
  list: true,
  success: { 200: "A page of metrics" },
});

const read = operation("metrics:read", {
  id: "getMetric",
  tag: "Metrics",
  summary: "Read a metric",
  data: Metric,
  success: { 200: "The metric" },
  errors: ["invalid_id", "resource_not_found"],
});

export function metricRoutes(app: FastifyInstance, { clients, cursors }: NativeContext): void {
  app.get("/metrics", list, async (request, reply) => {
    const query = queryOf(request);
    const { propertyId } = callerOf(request);
    const name = query.filters.get("name");
    const source = query.filters.get("source");
    const system = readBoolean(query.filters.get("system"), "filter[system]");
    const page = openPage(request, query, cursors, "metrics");
    const { metrics, hasMore } = await calling(
      clients.metrics.listMetrics(
        {
          propertyId,
          limit: query.limit,
          ...(name === undefined ? {} : { name }),
          ...(source === undefined ? {} : { source }),
          ...(system === undefined ? {} : { system }),
          ...(page.after === undefined ? {} : { afterMetricId: page.after }),
        },
        callOptions(callOf(request)),
      ),
    );
    return sendData(request, reply, `[${metrics.map(metricJson).join(",")}]`, page.meta(hasMore, metrics.at(-1)?.id));
  });

  app.get<{ Params: { id: string } }>("/metrics/:id", read, async (request, reply) => {
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
}

function readBoolean(text: string | undefined, param: string): boolean | undefined {
  if (text === undefined || text === "true" || text === "false")
    return text === undefined ? undefined : text === "true";
  throw new DaybookError("parameter_invalid", "This is true or false.", { param });
}
