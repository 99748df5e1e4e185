import { calling } from "#shared/rpc/interceptors.ts";
import { callerOf, readOptions } from "../../plugins/request.ts";
import type { CompatContext } from "../context.ts";
import { integrationCategories, integrationNames, metricResource } from "../convert/metrics.ts";
import type { Condition } from "../filter.ts";
import { findMetric } from "../find.ts";
import { sendDocument } from "../reply.ts";
import { Metric } from "../resources.ts";
import type { Router } from "../router.ts";
import { pick } from "../sparse.ts";

const pageSize = 200;
const includes = ["flow-triggers"];
const fields = ["metric", "flow"];

const list = {
  id: "compatListMetrics",
  summary: "List metrics",
  query: {
    filters: { "integration.name": ["equals"], "integration.category": ["equals"] },
    page: { sizeDefault: pageSize, sizeMax: pageSize, isFixed: true },
    includes,
    fields,
  },
  data: Metric,
  list: true,
  success: { 200: "A page of metrics" },
} as const;

const read = {
  id: "compatGetMetric",
  summary: "Read a metric",
  query: { includes, fields },
  data: Metric,
  success: { 200: "The metric" },
};

export function metricRoutes(router: Router, context: CompatContext): void {
  const { clients } = context;
  router.route("GET", "/metrics", "metrics:read", list, async ({ request, reply, query, links }) => {
    const { propertyId } = callerOf(request);
    const kinds = readKinds(query.conditions);
    const [kind] = kinds;
    const asked = {
      propertyId,
      limit: query.size,
      // The platform's own are shown to who asks for them.
      system: kinds.length === 1 && kind === "system",
      afterMetricId: query.after,
    };
    const found =
      kind === undefined
        ? { metrics: [], hasMore: false }
        : await calling(clients.metrics.listMetrics(asked, readOptions(request, reply)));
    const last = found.metrics.at(-1);
    const data = found.metrics.map((metric) => pick(metricResource(metric, links.to(`/metrics/${metric.id}`)), query));
    const included = query.includes.size > 0 ? { included: [] } : {};
    const cursor = found.hasMore && last ? query.writeCursor(last.id) : undefined;
    return sendDocument(reply, 200, { data, ...included, links: links.page(cursor) });
  });

  router.route("GET", "/metrics/:id", "metrics:read", read, async (exchange) => {
    const { reply, query, links } = exchange;
    const metric = await findMetric(context, exchange);
    const data = pick(metricResource(metric, links.to(`/metrics/${metric.id}`)), query);
    const included = query.includes.size > 0 ? { included: [] } : {};
    return sendDocument(reply, 200, { data, ...included, links: links.self() });
  });
}

type Kind = keyof typeof integrationNames;

/** Which integrations fulfil all conditions. */
function readKinds(conditions: readonly Condition[]): Kind[] {
  const kinds: Kind[] = ["api", "system"];
  return kinds.filter((kind) =>
    conditions.every(({ field, values }) => {
      const text = field === "integration.name" ? integrationNames[kind] : integrationCategories[kind];
      return values[0]?.toLowerCase() === text.toLowerCase();
    }),
  );
}
