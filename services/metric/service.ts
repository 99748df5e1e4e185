import { join } from "node:path";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { Owner } from "#shared/lifecycle.ts";
import { migrate } from "#shared/migrate.ts";
import { repeat } from "#shared/repeat.ts";
import type { Service, ServiceContext } from "#shared/service.ts";
import { eventsRecorded } from "./consumers/events-recorded.ts";
import { forgetBatches, forgetIntervalMs } from "./maintenance.ts";
import { getMetrics } from "./rpc/get-metrics.ts";
import { listMetrics } from "./rpc/list-metrics.ts";
import { probe } from "./sql/metrics.ts";

const migrations = join(import.meta.dirname, "migrations");

/** Makes the metric service. It learns of events from the bus. */
export function createMetric(context: ServiceContext): Service {
  const owner = new Owner();
  return {
    routes(router) {
      router.service(MetricService, { getMetrics: getMetrics(context), listMetrics: listMetrics(context) });
    },
    async start() {
      await migrate(context.database, "metric", migrations);
      await context.bus.subscribe("metric", "daybook.event.recorded", eventsRecorded(context));
      owner.own(repeat(forgetIntervalMs, context.log, "forget batches", (signal) => forgetBatches(context, signal)));
    },
    async checkReady() {
      await probe(context.database, []);
    },
    close: () => owner.close(),
  };
}
