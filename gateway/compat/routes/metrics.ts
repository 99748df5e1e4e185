import { integrationCategories, integrationNames, metricResource } from "../convert/metrics.ts";
import type { Condition } from "../filter.ts";
import { findMetric } from "../find.ts";
import { answerDocument, nothingIncluded } from "../reply.ts";
import { Metric } from "../resources.ts";
import { operation, route } from "../operation.ts";
import { pick } from "../sparse.ts";

const pageSize = 200;
const includes = ["flow-triggers"];
const fields = ["metric", "flow"];

const list = operation("metrics:read", {
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
});

const read = operation("metrics:read", {
  id: "compatGetMetric",
  summary: "Read a metric",
  query: { includes, fields },
  data: Metric,
  success: { 200: "The metric" },
});

export const metricRoutes = [
  route("GET", "/metrics", list, async ({ reply, propertyId, services, query, links }) => {
    const kinds = readKinds(query.conditions);
    const [kind] = kinds;
    const found =
      kind === undefined
        ? { metrics: [], hasMore: false }
        : await services.metrics.listMetrics({
            propertyId,
            limit: query.size,
            // System metrics are listed only if the filter selects them.
            system: kinds.length === 1 && kind === "system",
            afterMetricId: query.after,
          });
    const last = found.metrics.at(-1);
    const data = found.metrics.map((metric) => pick(metricResource(metric, links.to(`/metrics/${metric.id}`)), query));
    const cursor = found.hasMore && last ? query.writeCursor(last.id) : undefined;
    return answerDocument(reply, 200, { data, ...nothingIncluded(query), links: links.page(cursor) });
  }),

  route("GET", "/metrics/:id", read, async (exchange) => {
    const { reply, query, links } = exchange;
    const metric = await findMetric(exchange);
    const data = pick(metricResource(metric, links.to(`/metrics/${metric.id}`)), query);
    return answerDocument(reply, 200, { data, ...nothingIncluded(query), links: links.self() });
  }),
];

type Kind = keyof typeof integrationNames;

/** Integrations that match all conditions. */
function readKinds(conditions: readonly Condition[]): Kind[] {
  const kinds: Kind[] = ["api", "system"];
  return kinds.filter((kind) =>
    conditions.every(({ field, values }) => {
      const text = field === "integration.name" ? integrationNames[kind] : integrationCategories[kind];
      return values[0]?.toLowerCase() === text.toLowerCase();
    }),
  );
}
