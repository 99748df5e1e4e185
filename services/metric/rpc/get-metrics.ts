import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetMetricsResponseSchema, type MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import type { MetricContext } from "../context.ts";
import { toMetric } from "../mapping.ts";
import { readOrRegister } from "../registering.ts";
import { readMetrics } from "../sql/metrics.ts";

const metricsMax = 1000;

export function getMetrics(context: MetricContext): ServiceImpl<typeof MetricService>["getMetrics"] {
  return async ({ propertyId, metricIds, names, haveEvents }, { signal }) => {
    checkItemCount(metricIds.length + names.length, metricsMax, "metric_ids and names");
    const property = decodeId("prop", propertyId, "property_id");
    const ids = metricIds.map((id) => decodeId("mtr", id, "metric_ids"));
    const reader = context.reads.of(property, signal);
    const rows = haveEvents
      ? await readOrRegister(context, reader, property, ids, names)
      : await readMetrics(reader, [property, ids, names]);
    return create(GetMetricsResponseSchema, { metrics: rows.map(toMetric) });
  };
}
