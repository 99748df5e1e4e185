/** The metric service, or a consumer of it, beside the mesh whose other services it asks. */
import type { ServiceContext } from "#shared/service.ts";
import type { MetricContext } from "../../services/metric/context.ts";
import { createProfileNumbers } from "../../services/metric/numbers.ts";
import { connectToMesh } from "./daybook.ts";

export function metricContext(context: ServiceContext): MetricContext {
  return { ...context, ...connectToMesh().clients, numbers: createProfileNumbers() };
}
