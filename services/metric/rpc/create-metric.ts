import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { CreateMetricResponseSchema, type MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { normalizeDottedName } from "#shared/values/dotted-name.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, newUuid } from "#shared/values/ids.ts";
import { metricsMax } from "#shared/values/limits.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { count } from "#shared/values/count.ts";
import { descriptionProblem } from "../domain/description.ts";
import { toMetric } from "../mapping.ts";
import { readMetrics, type MetricRow } from "../sql/metrics.ts";
import { countRegistration, insertMetric } from "../sql/registrations.ts";

/** Thrown if the operation created the metric before, to roll back the count. */
class AlreadyCreated extends Error {
  readonly row: MetricRow;

  constructor(row: MetricRow) {
    super("the metric was made before");
    this.row = row;
  }
}

export function createMetric({ database }: ServiceContext): ServiceImpl<typeof MetricService>["createMetric"] {
  return async ({ propertyId, name, description, operationId }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const reading = normalizeDottedName(name, "name");
    const problem = descriptionProblem(description);
    if ("error" in reading || problem) {
      throw DaybookError.ofFields([...("error" in reading ? [reading.error] : []), ...(problem ? [problem] : [])]);
    }
    const id = operationId === undefined ? newUuid() : decodeId("op", operationId, "operation_id");
    const row = await withTransaction(database, async (tx) => {
      // Counted first, so that all calls lock the count before the name. This avoids deadlocks.
      const [counted] = await countRegistration(tx, [property]);
      const [made] = await insertMetric(tx, [property, id, reading.name, description ?? null]);
      if (!made) {
        const [own] = operationId === undefined ? [] : await readMetrics(tx, [property, [id], []]);
        if (own) throw new AlreadyCreated(own);
        throw new DaybookError("metric_exists", "`name` is taken: the property has a metric of this name already.", {
          param: "name",
        });
      }
      if (!counted || counted.count > metricsMax) {
        const message = `At most ${count(metricsMax)} metrics of a property are registered before their events.`;
        throw new DaybookError("too_many_items", message, { param: "name" });
      }
      return made;
    }).catch((error: unknown) => {
      if (error instanceof AlreadyCreated) return error.row;
      throw error;
    });
    return create(CreateMetricResponseSchema, { metric: toMetric(row) });
  };
}
