import type { FastifyInstance } from "fastify";
import { DaybookError } from "#shared/errors.ts";
import { decodeId } from "#shared/ids.ts";
import { calling, callOptions } from "#shared/interceptors.ts";
import { callerOf, callOf } from "../../plugins/request.ts";
import type { NativeContext } from "../context.ts";
import { metricJson } from "../convert.ts";
import { sendData } from "../envelope.ts";
import { readQuery } from "../query.ts";

export function metricRoutes(app: FastifyInstance, { clients, cursors }: NativeContext): void {
  app.get("/metrics", { config: { scope: "metrics:read" } }, async (request, reply) => {
    const query = readQuery(request.query, { filters: ["name", "source", "system"], paged: true });
    const { propertyId } = callerOf(request);
    const name = query.filters.get("name");
    const source = query.filters.get("source");
    const system = readBoolean(query.filters.get("system"), "filter[system]");
    const scope = [propertyId, "metrics", ...[...query.filters].flat()];
    const after = query.after === undefined ? undefined : cursors.read(scope, query.after);
    const { metrics, hasMore } = await calling(
      clients.metrics.listMetrics(
        {
          propertyId,
          limit: query.limit,
          ...(name === undefined ? {} : { name }),
          ...(source === undefined ? {} : { source }),
          ...(system === undefined ? {} : { system }),
          ...(after === undefined ? {} : { afterMetricId: after }),
        },
        callOptions(callOf(request)),
      ),
    );
    const last = metrics.at(-1);
    const page = {
      limit: query.limit,
      has_more: hasMore,
      next_cursor: hasMore && last ? cursors.write(scope, last.id) : null,
    };
    return sendData(request, reply, `[${metrics.map(metricJson).join(",")}]`, { page });
  });

  app.get<{ Params: { id: string } }>("/metrics/:id", { config: { scope: "metrics:read" } }, async (request, reply) => {
    readQuery(request.query, {});
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
