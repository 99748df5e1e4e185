import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { UpdateMetricResponseSchema, type MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { descriptionProblem } from "../domain/description.ts";
import { toMetric } from "../mapping.ts";
import { recordOnce } from "../once.ts";
import { readMetrics } from "../sql/metrics.ts";
import { describeMetric } from "../sql/registrations.ts";

export function updateMetric({ database, clock }: ServiceContext): ServiceImpl<typeof MetricService>["updateMetric"] {
  return async ({ propertyId, metricId, description, operationId }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const id = decodeId("mtr", metricId, "metric_id");
    const operation = operationId === undefined ? undefined : decodeId("op", operationId, "operation_id");
    const problem = descriptionProblem(description);
    if (problem) throw DaybookError.ofFields([problem]);
    const row = await withTransaction(database, async (tx) => {
      const isNew =
        !operation || (await recordOnce(tx, [{ property, id: operation }], clock.nowMicros())).has(operation);
      const [found] = await readMetrics(tx, [property, [id], []]);
      if (!found) throw new DaybookError("resource_not_found", "There is no such metric.", { param: "metric_id" });
      if (!isNew) return found;
      const [described] = await describeMetric(tx, [property, id, description ?? null, found.name]);
      if (described) return described;
      throw new DaybookError("metric_read_only", "The metric is read-only: it belongs to the platform.", {
        param: "metric_id",
      });
    });
    return create(UpdateMetricResponseSchema, { metric: toMetric(row) });
  };
}
