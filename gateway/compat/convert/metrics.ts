/** Metrics, messages to wire. */
import type { Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import type { Resource } from "../reply.ts";
import { toDateTimeOrNull } from "./times.ts";

/** What integrations are called here: events that come over the API, and the platform's own. */
export const integrationNames = { api: "API", system: "Daybook" } as const;
/** Their categories. */
export const integrationCategories = { api: "API", system: "Internal" } as const;

/** A metric as a resource, under the name that was written first. */
export function metricResource(metric: Metric, links: { self: string }): Resource {
  const key = metric.system ? "system" : "api";
  return {
    type: "metric",
    id: metric.id,
    attributes: {
      name: metric.originalName ?? metric.name,
      created: toDateTimeOrNull(metric.createdAt),
      updated: toDateTimeOrNull(metric.updatedAt),
      integration: {
        object: "integration",
        id: key,
        key,
        name: integrationNames[key],
        category: integrationCategories[key],
      },
    },
    relationships: { "flow-triggers": { data: [] } },
    links,
  };
}
