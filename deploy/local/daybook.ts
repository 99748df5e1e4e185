/** Runs the five services and the gateway in one process, on one database. */
import type { Transport } from "@connectrpc/connect";
import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { createLocalBus } from "#shared/bus/local.ts";
import { busRoutes } from "#shared/bus/operator.ts";
import { systemClock, type Clock } from "#shared/values/clock.ts";
import { createServiceClient } from "#shared/rpc/clients.ts";
import type { FindClient } from "#shared/rpc/admission.ts";
import { inProcessTransport } from "#shared/rpc/in-process.ts";
import type { Owner } from "#shared/process/lifecycle.ts";
import type { Log } from "#shared/process/log.ts";
import { openNatsBus } from "#shared/bus/nats/open.ts";
import type { NatsSettings } from "#shared/bus/nats/settings.ts";
import { connectNatsSignals } from "#shared/bus/nats/signals.ts";
import { createSigner } from "#shared/bus/nats/signature.ts";
import { checkServer } from "#shared/database/check.ts";
import { openServiceDatabase } from "#shared/database/reads.ts";
import type { Service, ServiceContext } from "#shared/process/service.ts";
import { connectPostgresSignals } from "#shared/bus/postgres-signals.ts";
import { createLocalSignals, type Signals } from "#shared/bus/signals.ts";
import { createSignatures } from "#shared/bus/signatures.ts";
import { startService } from "#shared/process/start.ts";
import type { Routes } from "#shared/process/service.ts";
import { serviceRoutes } from "#shared/rpc/service-routes.ts";
import { createGateway } from "../../gateway/app.ts";
import { createClients, type Transports } from "../../gateway/clients.ts";
import type { CompatSettings, EdgeSettings } from "../../gateway/config.ts";
import { createGatewayReadiness } from "../../gateway/readiness.ts";
import type { DashboardSettings } from "../../gateway/dashboard/settings.ts";
import type { OAuthSettings } from "../../gateway/oauth/settings.ts";
import type { EventSettings } from "../../services/event/config.ts";
import type { RateLimits } from "../../gateway/rate/limits.ts";
import { createEvent } from "../../services/event/service.ts";
import { requestClaims } from "../../services/identity/request-claims.ts";
import { createIdentity } from "../../services/identity/service.ts";
import { createMetric } from "../../services/metric/service.ts";
import type { ProfileSettings } from "../../services/profile/config.ts";
import { createProfile } from "../../services/profile/service.ts";
import { connectionsMaxOf, connectionsOf } from "./connections.ts";
import { createWebhook } from "../../services/webhook/service.ts";
import type { WebhookSettings } from "../../services/webhook/config.ts";

export interface DaybookOptions {
  databaseUrl: string;
  /** How many processes share the work on this database; 1 by default. */
  workers?: number;
  /** Whether this one checks the server's settings for all of them, as it does by default. */
  checksServer?: boolean | undefined;
  /** A pooler in transaction mode stands before the database. */
  hasPooler?: boolean;
  /** Without it the bus is within this process. */
  nats?: NatsSettings | undefined;
  /** Size of an outbox at which writes are refused. */
  outboxBytesMax?: number | undefined;
  internalToken: string;
  /** Also accepted as the signer of bus messages, and its cursors are read too. */
  acceptedToken?: string | undefined;
  bootstrapKeys: { live: string; test: string };
  limits: RateLimits;
  /** Default: as without any settings. */
  compat?: CompatSettings;
  /** Overrides of the settings of the profile service. */
  profile?: Partial<ProfileSettings>;
  event: EventSettings;
  webhook: WebhookSettings;
  log: Log;
  registry: Registry;
  clock?: Clock;
  /** Overrides of the public surface's settings. */
  edge?: Partial<EdgeSettings>;
  /** Overrides of the dashboard's settings. */
  dashboard?: Partial<DashboardSettings>;
  /** Overrides of the settings of OAuth. */
  oauth?: Partial<OAuthSettings>;
  /** How long the gateway caches callers; default: as every gateway. */
  callerAgeMsMax?: number;
}

export interface Daybook {
  /** The public surface, not yet listening. */
  gateway: FastifyInstance;
  /** In-process transports to the services. */
  transports: Transports;
  /** All RPCs of the services. */
  routes: Routes;
  /** Finds internal clients. */
  findClient: FindClient | undefined;
  /** Rejects unless the gateway is ready. */
  checkReady: () => Promise<void>;
}

/**
 * Starts everything; `owner` gets all that must be closed.
 * @param stopping ends waiting for an unavailable database.
 */
export async function startDaybook(options: DaybookOptions, owner: Owner, stopping: AbortSignal): Promise<Daybook> {
  const { log, registry, internalToken, clock = systemClock } = options;
  const { databaseUrl: url, hasPooler = false, workers = 1 } = options;
  const signer = createSigner(internalToken, options.acceptedToken);
  const nats = options.nats && { ...options.nats, signer, name: "daybook", log, registry };
  const bus = owner.own(nats ? openNatsBus(nats) : createLocalBus(log));
  const signals = owner.own(nats ? connectNatsSignals(nats) : openSignals(options));
  const connections = connectionsOf(workers);
  const contextOf = (name: keyof typeof connections): ServiceContext => {
    const pools = openServiceDatabase({ url, name, connections: connections[name], hasPooler, log });
    owner.defer(() => pools.end());
    const { database, reads } = pools;
    return { database, reads, bus, clock, log: log.child({ service: name }), registry };
  };
  const transportTo = (name: string, service: Service): Transport =>
    inProcessTransport(serviceRoutes(name, service, bus), log, registry);

  const { bootstrapKeys, outboxBytesMax } = options;
  const identityContext = contextOf("identity");
  const identity = createIdentity({ ...identityContext, signals }, { bootstrapKeys });
  const profile = createProfile(contextOf("profile"), { ...options.profile, outboxBytesMax });
  const profiles = transportTo("profile", profile);
  const profileClient = createServiceClient(ProfileService, profiles);
  const identities = transportTo("identity", identity);
  const event = createEvent(
    contextOf("event"),
    {
      identity: createServiceClient(IdentityService, identities),
      profiles: profileClient,
      privacy: createServiceClient(PrivacyService, profiles),
    },
    { ...options.event, outboxBytesMax, requestClaims },
  );
  const events = transportTo("event", event);
  const metric = createMetric(
    contextOf("metric"),
    { events: createServiceClient(EventService, events), profiles: profileClient },
    { outboxBytesMax },
  );
  const metrics = transportTo("metric", metric);
  const webhook = createWebhook(
    { ...contextOf("webhook"), signals },
    {
      identity: createServiceClient(IdentityService, identities),
      apps: createServiceClient(AppService, identities),
      events: createServiceClient(EventService, events),
      metrics: createServiceClient(MetricService, metrics),
      profiles: profileClient,
      privacy: createServiceClient(PrivacyService, profiles),
    },
    { ...options.webhook, internalToken, acceptedToken: options.acceptedToken },
  );
  // Consumers start before publishers, so that outbox backlogs are published at once.
  const services = [identity, webhook, metric, event, profile];
  // Before the first service starts, because all services share the server.
  const connectionsMax = connectionsMaxOf(workers);
  const check = (): Promise<void> => checkServer(identityContext.database, { connectionsMax, hasPooler, log });
  const { checksServer = true } = options;
  for (const service of services) {
    await startService(owner.own(service), log, stopping, checksServer && service === identity ? check : undefined);
  }

  const transports = {
    identity: identities,
    profiles,
    events,
    metrics,
    webhooks: transportTo("webhook", webhook),
  };
  const clients = createClients(transports);
  const readiness = createGatewayReadiness(clients);
  const gateway = await createGateway({
    clients,
    clock,
    log,
    registry,
    limits: options.limits,
    compat: options.compat,
    edge: options.edge,
    dashboard: options.dashboard,
    oauth: options.oauth,
    readiness,
    signals,
    callerAgeMsMax: options.callerAgeMsMax,
    claimsWithEvents: true,
    secret: internalToken,
    acceptedSecret: options.acceptedToken,
  });
  owner.defer(() => gateway.close());
  const routes: Routes = (router) => {
    for (const service of services) service.routes(router);
    busRoutes(
      bus,
      services.flatMap(({ outbox }) => outbox ?? []),
    )(router);
  };
  const { findClient } = identity;
  return { gateway, transports, routes, findClient, checkReady: () => readiness.check() };
}

/** Signals without NATS. A pooler keeps no connection for those who listen. */
function openSignals({ databaseUrl, hasPooler, internalToken, acceptedToken, log, registry }: DaybookOptions): Signals {
  if (hasPooler) return createLocalSignals(log);
  const signatures = createSignatures(internalToken, acceptedToken);
  return connectPostgresSignals({ url: databaseUrl, signatures, log, registry });
}
