import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { UpdateMetricResponseSchema, type MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import { decodeId } from "#shared/ids.ts";
import type { ServiceContext } from "#shared/service.ts";
import { descriptionProblem } from "../domain/description.ts";
import { toMetric } from "../mapping.ts";
import { readMetrics } from "../sql/metrics.ts";
import { describeMetric } from "../sql/registrations.ts";

export function updateMetric({ database }: ServiceContext): ServiceImpl<typeof MetricService>["updateMetric"] {
  return async ({ propertyId, metricId, description }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const id = decodeId("mtr", metricId, "metric_id");
    const problem = descriptionProblem(description);
    if (problem) throw DaybookError.ofFields([problem]);
    const [row] = await describeMetric(database, [property, id, description ?? null]);
    if (row) return create(UpdateMetricResponseSchema, { metric: toMetric(row) });
    const [found] = await readMetrics(database, [property, [id], []]);
    if (!found) throw new DaybookError("resource_not_found", "There is no such metric.", { param: "metric_id" });
    throw new DaybookError("metric_read_only", "This metric is the platform's own.", { param: "metric_id" });
  };
}
