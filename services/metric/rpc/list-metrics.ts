import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListMetricsResponseSchema, type MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { toMetric } from "../mapping.ts";
import { listMetrics as list } from "../sql/metrics.ts";

const limitMax = 500;

export function listMetrics(context: ServiceContext): ServiceImpl<typeof MetricService>["listMetrics"] {
  return async ({ propertyId, name, source, system, limit, afterMetricId }, { signal }) => {
    checkLimit(limit, limitMax, "metrics");
    const property = decodeId("prop", propertyId, "property_id");
    const after = afterMetricId === undefined ? null : decodeId("mtr", afterMetricId, "after_metric_id");
    const reader = context.reads.of(property, signal);
    const { rows, hasMore } = await pageOf(limit, (most) =>
      list(reader, [property, after, name ?? null, source ?? null, system ?? null, most]),
    );
    return create(ListMetricsResponseSchema, { metrics: rows.map(toMetric), hasMore });
  };
}
