/** All routes of the surface, in document order. */
import type { CompatRoute } from "./operation.ts";
import { accountRoutes } from "./routes/accounts.ts";
import { deletionJobRoutes } from "./routes/deletion-jobs.ts";
import { emptyListRoutes } from "./routes/empty-lists.ts";
import { eventRelationRoutes } from "./routes/event-relations.ts";
import { eventRoutes } from "./routes/events.ts";
import { eventWriteRoutes } from "./routes/event-writes.ts";
import { importJobRoutes } from "./routes/import-jobs.ts";
import { metricAggregateRoutes } from "./routes/metric-aggregates.ts";
import { metricRoutes } from "./routes/metrics.ts";
import { profileWriteRoutes } from "./routes/profile-writes.ts";
import { profileRoutes } from "./routes/profiles.ts";

export const compatRoutes: readonly CompatRoute[] = [
  ...eventWriteRoutes,
  ...eventRoutes,
  ...eventRelationRoutes,
  ...profileWriteRoutes,
  ...profileRoutes,
  ...importJobRoutes,
  ...deletionJobRoutes,
  ...metricRoutes,
  ...metricAggregateRoutes,
  ...accountRoutes,
  ...emptyListRoutes,
];
