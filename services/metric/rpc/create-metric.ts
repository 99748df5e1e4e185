import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { CreateMetricResponseSchema, type MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { normalizeDottedName } from "#shared/values/dotted-name.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, newUuid } from "#shared/values/ids.ts";
import { metricsMax } from "#shared/values/limits.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { count } from "#shared/values/count.ts";
import type { MetricContext } from "../context.ts";
import { descriptionProblem } from "../domain/description.ts";
import { toMetric } from "../mapping.ts";
import { recordOnce } from "../once.ts";
import { readMetrics } from "../sql/metrics.ts";
import { tell } from "../telling.ts";
import { countRegistration, insertMetric } from "../sql/registrations.ts";

export function createMetric({
  database,
  clock,
  relay,
}: MetricContext): ServiceImpl<typeof MetricService>["createMetric"] {
  return async ({ propertyId, name, description, operationId }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const reading = normalizeDottedName(name, "name");
    const problem = descriptionProblem(description);
    if ("error" in reading || problem) {
      throw DaybookError.ofFields([...("error" in reading ? [reading.error] : []), ...(problem ? [problem] : [])]);
    }
    const operation = operationId === undefined ? undefined : decodeId("op", operationId, "operation_id");
    const id = operation ?? newUuid();
    relay.checkRoom();
    const row = await withTransaction(database, async (tx) => {
      if (operation && !(await recordOnce(tx, [{ property, id: operation }], clock.nowMicros())).has(operation)) {
        const [own] = await readMetrics(tx, [property, [operation], []]);
        if (!own) throw new Error("a metric that was created is gone");
        return own;
      }
      // Counted first, so that all calls lock the count before the name. This avoids deadlocks.
      const [counted] = await countRegistration(tx, [property]);
      const [made] = await insertMetric(tx, [property, id, reading.name, description ?? null]);
      if (!made) {
        throw new DaybookError("metric_exists", "`name` is taken: the property has a metric of this name already.", {
          param: "name",
        });
      }
      if (!counted || counted.count > metricsMax) {
        const message = `At most ${count(metricsMax)} metrics of a property are registered before their events.`;
        throw new DaybookError("too_many_items", message, { param: "name" });
      }
      await tell(tx, relay, property, [made]);
      return made;
    });
    relay.wake();
    return create(CreateMetricResponseSchema, { metric: toMetric(row) });
  };
}
