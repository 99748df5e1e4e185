import type { Client } from "@connectrpc/connect";
import { join } from "node:path";
import type { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import type { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { migrate } from "#shared/database/migrate.ts";
import { createOutboxRelay } from "#shared/outbox/outbox.ts";
import { repeat, type Repeated } from "#shared/scheduling/repeat.ts";
import type { Service, ServiceContext } from "#shared/process/service.ts";
import { closeDays, closeIntervalMs } from "./closing.ts";
import { rebuildAll } from "./rebuild.ts";
import { eventsLinked } from "./consumers/events-linked.ts";
import { eventsRecorded } from "./consumers/events-recorded.ts";
import type { MetricContext } from "./context.ts";
import { buildIntervalMs, forgetExpired, forgetIntervalMs } from "./maintenance.ts";
import { createProfileOrdinals } from "./ordinals.ts";
import { aggregateMetric } from "./rpc/aggregate-metric.ts";
import { createMetric as create } from "./rpc/create-metric.ts";
import { describeActivity } from "./rpc/describe-activity.ts";
import { describeRollups } from "./rpc/describe-rollups.ts";
import { getMetrics } from "./rpc/get-metrics.ts";
import { listMetrics } from "./rpc/list-metrics.ts";
import { listSparklines } from "./rpc/list-sparklines.ts";
import { rebuildRollups } from "./rpc/rebuild-rollups.ts";
import { updateMetric } from "./rpc/update-metric.ts";
import { probe } from "./sql/metrics.ts";

const migrations = join(import.meta.dirname, "migrations");

/** Creates the metric service. The bus brings it events; its clients read stored events and merges. */
export function createMetric(
  serviceContext: ServiceContext,
  clients: { events: Client<typeof EventService>; profiles: Client<typeof ProfileService> },
  { outboxBytesMax }: { outboxBytesMax?: number | undefined } = {},
): Service {
  const owner = new Owner();
  const relay = createOutboxRelay({ ...serviceContext, schema: "metric", outboxBytesMax });
  const context: MetricContext = { ...serviceContext, ...clients, relay, ordinals: createProfileOrdinals() };
  const { database, bus, log } = context;
  let building: Repeated | undefined;
  return {
    routes(router) {
      router.service(MetricService, {
        getMetrics: getMetrics(context),
        listMetrics: listMetrics(context),
        aggregateMetric: aggregateMetric(context),
        rebuildRollups: rebuildRollups(context, () => building?.wake()),
        describeRollups: describeRollups(context),
        createMetric: create(context),
        updateMetric: updateMetric(context),
        describeActivity: describeActivity(context),
        listSparklines: listSparklines(context),
      });
    },
    outbox: relay,
    async start() {
      await migrate(database, "metric", migrations);
      await bus.subscribe("metric", "daybook.event.recorded", eventsRecorded(context));
      await bus.subscribe("metric_linked", "daybook.event.linked", eventsLinked(context));
      owner.own(relay).start();
      building = owner.own(repeat(buildIntervalMs, log, "count events anew", (signal) => rebuildAll(context, signal)));
      owner.own(repeat(closeIntervalMs, log, "close days", (signal) => closeDays(context, signal)));
      owner.own(repeat(forgetIntervalMs, log, "forget operations", (signal) => forgetExpired(context, signal)));
    },
    async checkReady() {
      await probe(database, []);
    },
    close: () => owner.close(),
  };
}
