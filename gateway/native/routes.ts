/** All native routes, in the order of the document. */
import type { NativeRoute } from "./operation.ts";
import { accountRoutes } from "./routes/account.ts";
import { appRoutes } from "./routes/apps.ts";
import { eventBatchRoutes } from "./routes/event-batch.ts";
import { eventRoutes } from "./routes/events.ts";
import { identifierRoutes } from "./routes/identifiers.ts";
import { installationRoutes } from "./routes/installations.ts";
import { metricAggregateRoutes } from "./routes/metric-aggregates.ts";
import { metricRoutes } from "./routes/metrics.ts";
import { privacyDownloadRoutes } from "./routes/privacy-download.ts";
import { privacyRequestBatchRoutes } from "./routes/privacy-request-batch.ts";
import { privacyRequestRoutes } from "./routes/privacy-requests.ts";
import { profileBatchRoutes } from "./routes/profile-batch.ts";
import { profileRoutes } from "./routes/profiles.ts";
import { rejectedWriteRoutes } from "./routes/rejected-writes.ts";
import { revisionRoutes } from "./routes/revisions.ts";
import { schemaRoutes } from "./routes/schemas.ts";
import { suppressionRoutes } from "./routes/suppressions.ts";
import { webhookDeliveryRoutes } from "./routes/webhook-deliveries.ts";
import { webhookEndpointRoutes } from "./routes/webhook-endpoints.ts";

export const nativeRoutes: readonly NativeRoute[] = [
  ...eventRoutes,
  ...eventBatchRoutes,
  ...profileRoutes,
  ...profileBatchRoutes,
  ...identifierRoutes,
  ...metricRoutes,
  ...metricAggregateRoutes,
  ...schemaRoutes,
  ...appRoutes,
  ...installationRoutes,
  ...privacyRequestRoutes,
  ...privacyRequestBatchRoutes,
  ...privacyDownloadRoutes,
  ...suppressionRoutes,
  ...rejectedWriteRoutes,
  ...webhookEndpointRoutes,
  ...webhookDeliveryRoutes,
  ...accountRoutes,
  ...revisionRoutes,
];
