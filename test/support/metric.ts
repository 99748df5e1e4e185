/** Creates the context of a metric service beside the mesh, which calls the mesh's other services. */
import { systemClock } from "#shared/values/clock.ts";
import { createReads } from "#shared/database/reads.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import type { MetricContext } from "../../services/metric/context.ts";
import { createProfileOrdinals } from "../../services/metric/ordinals.ts";
import { connectToMesh } from "./daybook.ts";

export function metricContext(context: Omit<ServiceContext, "reads" | "clock">): MetricContext {
  const reads = createReads(context.database, context.log);
  return { ...context, reads, clock: systemClock, ...connectToMesh().clients, ordinals: createProfileOrdinals() };
}
