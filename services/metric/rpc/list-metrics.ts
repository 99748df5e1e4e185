import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListMetricsResponseSchema, type MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { toMetric } from "../mapping.ts";
import { listMetrics as list } from "../sql/metrics.ts";

const limitMax = 500;

export function listMetrics(context: ServiceContext): ServiceImpl<typeof MetricService>["listMetrics"] {
  return async ({ propertyId, name, source, system, limit, afterMetricId }, { signal }) => {
    if (limit < 1 || limit > limitMax) {
      throw new DaybookError("parameter_invalid", `A page has 1 to ${limitMax} metrics.`, { param: "limit" });
    }
    const property = decodeId("prop", propertyId, "property_id");
    const after = afterMetricId === undefined ? null : decodeId("mtr", afterMetricId, "after_metric_id");
    const reader = context.reads.of(property, signal);
    // One more than asked for tells whether more follow.
    const rows = await list(reader, [property, after, name ?? null, source ?? null, system ?? null, limit + 1]);
    const metrics = rows.slice(0, limit).map(toMetric);
    return create(ListMetricsResponseSchema, { metrics, hasMore: rows.length > limit });
  };
}
