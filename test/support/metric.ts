/** Creates the context of a metric service beside the mesh, which calls the mesh's other services. */
import { createOutboxRelay } from "#shared/outbox/outbox.ts";
import { systemClock } from "#shared/values/clock.ts";
import { createReads } from "#shared/database/reads.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import type { MetricContext } from "../../services/metric/context.ts";
import { createProfileOrdinals } from "../../services/metric/ordinals.ts";
import { connectToMesh } from "./daybook.ts";

/** Its outbox is not published. */
export function metricContext(context: Omit<ServiceContext, "reads" | "clock">): MetricContext {
  const reads = createReads(context.database, context.log);
  const relay = createOutboxRelay({ ...context, schema: "metric" });
  return {
    ...context,
    reads,
    clock: systemClock,
    ...connectToMesh().clients,
    relay,
    ordinals: createProfileOrdinals(),
  };
}
