import { join } from "node:path";
import { WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { migrate } from "#shared/database/migrate.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import type { Service, ServiceContext } from "#shared/process/service.ts";
import { repeat, type Repeated } from "#shared/scheduling/repeat.ts";
import type { Signals } from "#shared/bus/signals.ts";
import { createSealing } from "#shared/values/sealing.ts";
import { followApps } from "./apps.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { WebhookSettings } from "./config.ts";
import type { WebhookClients, WebhookContext } from "./context.ts";
import { eventsLinked } from "./consumers/events-linked.ts";
import { eventsRecorded } from "./consumers/events-recorded.ts";
import { metricsCreated } from "./consumers/metrics-created.ts";
import { privacyRequestsSettled } from "./consumers/privacy-requests-settled.ts";
import { privacyWorkDue } from "./consumers/privacy-work-due.ts";
import { profilesChanged } from "./consumers/profiles-changed.ts";
import { rejectedWritesReported } from "./consumers/rejected-writes-reported.ts";
import { settleEndpoints } from "./disabling.ts";
import { checkUrl } from "./domain/urls.ts";
import { createNetworks } from "./egress/networks.ts";
import { createSender } from "./egress/sender.ts";
import { watchOwners } from "./owners.ts";
import { deleteOld, maintenanceIntervalMs } from "./maintenance.ts";
import { carryOutReplays } from "./replaying.ts";
import { createReplay } from "./rpc/create-replay.ts";
import { rotateAppWebhookSecret } from "./rpc/rotate-app-webhook-secret.ts";
import { createEndpoint } from "./rpc/create-endpoint.ts";
import { deleteEndpoint } from "./rpc/delete-endpoint.ts";
import { describeEndpoints } from "./rpc/describe-endpoints.ts";
import { getDelivery } from "./rpc/get-delivery.ts";
import { getEndpoint } from "./rpc/get-endpoint.ts";
import { listDeliveries } from "./rpc/list-deliveries.ts";
import { listEndpoints } from "./rpc/list-endpoints.ts";
import { retryDelivery } from "./rpc/retry-delivery.ts";
import { rotateEndpointSecret } from "./rpc/rotate-endpoint-secret.ts";
import { testEndpoint } from "./rpc/test-endpoint.ts";
import { updateEndpoint } from "./rpc/update-endpoint.ts";
import type { DisableEndpoint } from "./sending/health.ts";
import { createLanes } from "./sending/lanes.ts";
import { createSendingMetrics } from "./sending/metrics.ts";
import { disableEndpoint, probe } from "./sql/endpoints.ts";

const migrations = join(import.meta.dirname, "migrations");

/** What the process of the service gives it. */
export interface WebhookProcess extends WebhookSettings {
  /** Seals the secrets of endpoints. */
  internalToken: string;
  /** Opens secrets that were sealed with it. */
  acceptedToken: string | undefined;
}

/** Creates the webhook service: the only one that talks to the outside. */
export function createWebhook(
  serviceContext: ServiceContext & { signals: Signals },
  clients: WebhookClients,
  { allowedNetworks, internalToken, acceptedToken }: WebhookProcess,
): Service {
  const owner = new Owner();
  const networks = createNetworks(allowedNetworks);
  let settling: Repeated | undefined;
  let replaying: Repeated | undefined;
  const { database, clock } = serviceContext;
  const sealing = createSealing("webhooks", internalToken, acceptedToken);
  const sender = createSender({ networks, clock });
  const metrics = createSendingMetrics(serviceContext);
  const disable: DisableEndpoint = async (property, endpoint, reason) => {
    await disableEndpoint(database, [property, endpoint, reason, formatMicros(clock.nowMicros())]);
    lanes.refresh(endpoint);
    settling?.wake();
  };
  const lanes = createLanes({ ...serviceContext, sealing, sender, metrics, disable });
  const context: WebhookContext = {
    ...serviceContext,
    ...clients,
    sealing,
    sender,
    lanes,
    checkUrl: (url) => checkUrl(url, networks.reachOf),
    endpointChanged: (endpoint) => lanes.refresh(endpoint),
    deliveriesDue: (property, endpoints) => lanes.wake(property, endpoints),
    settling: { wake: () => settling?.wake() },
    replaying: { wake: () => replaying?.wake() },
  };
  return {
    routes(router) {
      router.service(WebhookService, {
        createEndpoint: createEndpoint(context),
        getEndpoint: getEndpoint(context),
        listEndpoints: listEndpoints(context),
        updateEndpoint: updateEndpoint(context),
        deleteEndpoint: deleteEndpoint(context),
        rotateEndpointSecret: rotateEndpointSecret(context),
        listDeliveries: listDeliveries(context),
        getDelivery: getDelivery(context),
        retryDelivery: retryDelivery(context),
        describeEndpoints: describeEndpoints(context),
        testEndpoint: testEndpoint(context),
        createReplay: createReplay(context),
        rotateAppWebhookSecret: rotateAppWebhookSecret(context),
      });
    },
    async start() {
      await migrate(context.database, "webhook", migrations);
      const { bus } = context;
      await bus.subscribe("webhook_events", "daybook.event.recorded", eventsRecorded(context));
      await bus.subscribe("webhook_linked", "daybook.event.linked", eventsLinked(context));
      await bus.subscribe("webhook_profiles", "daybook.profile.changed", profilesChanged(context));
      await bus.subscribe("webhook_metrics", "daybook.metric.created", metricsCreated(context));
      await bus.subscribe(
        "webhook_rejected",
        "daybook.event.rejected_writes_reported",
        rejectedWritesReported(context),
      );
      await bus.subscribe("webhook_privacy", "daybook.profile.privacy_settled", privacyRequestsSettled(context));
      await bus.subscribe("webhook_privacy_work", "daybook.profile.privacy_due", privacyWorkDue(context));
      settling = owner.own(settleEndpoints(context));
      replaying = owner.own(carryOutReplays(context));
      owner.own(watchOwners(context));
      owner.own(followApps(context));
      owner.own(
        repeat(maintenanceIntervalMs, context.log, "delete old messages", (signal) => deleteOld(context, signal)),
      );
      lanes.start();
      // Owned last, so closed first: attempts end while everything else goes on.
      owner.own(lanes);
    },
    async checkReady() {
      await probe(context.database, []);
    },
    close: () => owner.close(),
  };
}
