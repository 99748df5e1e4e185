/** Maps metrics to resources. */
import type { Metric } from "#proto/daybook/metric/v1/metric_pb.ts";
import type { Resource } from "../reply.ts";
import { toDateTimeOrNull } from "./times.ts";

/** Names of integrations: events sent over the API, and system events. */
export const integrationNames = { api: "API", system: "Daybook" } as const;
export const integrationCategories = { api: "API", system: "Internal" } as const;

/** A metric under its original name, if it has one. */
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
