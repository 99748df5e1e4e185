/** All of Daybook in one process: four services and the gateway, over one database. */
import { createClient, type Transport } from "@connectrpc/connect";
import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { createLocalBus } from "#shared/bus.ts";
import { busRoutes } from "#shared/bus-operator.ts";
import { systemClock, type Clock } from "#shared/clock.ts";
import { inProcessTransport } from "#shared/in-process.ts";
import type { Owner } from "#shared/lifecycle.ts";
import type { Log } from "#shared/log.ts";
import { connectNatsBus } from "#shared/nats/bus.ts";
import type { NatsSettings } from "#shared/nats/settings.ts";
import { connectNatsSignals } from "#shared/nats/signals.ts";
import { openDatabase, waitForDatabase } from "#shared/postgres.ts";
import type { Service, ServiceContext } from "#shared/service.ts";
import { createLocalSignals } from "#shared/signals.ts";
import { serviceRoutes, type Routes } from "#shared/transport.ts";
import { createGateway } from "../../gateway/app.ts";
import { createClients, type Transports } from "../../gateway/clients.ts";
import type { CompatSettings } from "../../gateway/config.ts";
import type { ListenerLimits } from "../../gateway/listener.ts";
import type { EventSettings } from "../../services/event/config.ts";
import type { RateLimits } from "../../gateway/rate/limits.ts";
import { createEvent } from "../../services/event/service.ts";
import { createIdentity } from "../../services/identity/service.ts";
import { createMetric } from "../../services/metric/service.ts";
import { createProfile } from "../../services/profile/service.ts";

/** What a Daybook in one process is made from. */
export interface DaybookOptions {
  databaseUrl: string;
  /** Without one the bus is in this process. */
  nats?: NatsSettings | undefined;
  /** How much an outbox may hold before writes are refused. */
  outboxBytesMax?: number | undefined;
  internalToken: string;
  bootstrapKeys: { live: string; test: string };
  limits: RateLimits;
  /** Of the compatibility surface, if not as without any settings. */
  compat?: CompatSettings;
  event: EventSettings;
  log: Log;
  registry: Registry;
  clock?: Clock;
  /** What clients may take of the public listener, if it is not what they may take of every gateway. */
  listener?: ListenerLimits;
  /** How long the gateway remembers who a key is, if not as long as every gateway. */
  callerAgeMsMax?: number;
}

/** What is running. */
export interface Daybook {
  /** The public surface; it listens once it is told where. */
  gateway: FastifyInstance;
  /** How the services are reached within this process. */
  transports: Transports;
  /** All that the services answer to. */
  routes: Routes;
  /** Rejects unless every service can do its work. */
  checkReady: () => Promise<void>;
  /** Whether this was the first start on this database, so that the bootstrap keys are good now. */
  isNew: boolean;
}

const connectionsMax = { identity: 2, profile: 8, event: 12, metric: 6 };

/** Starts everything; `owner` is given all that must be closed. */
export async function startDaybook(options: DaybookOptions, owner: Owner): Promise<Daybook> {
  const { log, registry, internalToken, clock = systemClock } = options;
  const bus = owner.own(
    options.nats ? await connectNatsBus({ ...options.nats, name: "daybook", log, registry }) : createLocalBus(log),
  );
  const signals = owner.own(
    options.nats ? connectNatsSignals({ ...options.nats, name: "daybook", log, registry }) : createLocalSignals(log),
  );
  const contextOf = async (name: keyof typeof connectionsMax): Promise<ServiceContext> => {
    const database = openDatabase({
      url: options.databaseUrl,
      applicationName: `daybook-${name}`,
      connectionsMax: connectionsMax[name],
      log,
    });
    owner.defer(() => database.end());
    await waitForDatabase(database);
    return { database, bus, clock, log: log.child({ service: name }), registry };
  };
  const transportTo = (service: Service): Transport =>
    inProcessTransport(serviceRoutes(service, bus), internalToken, log, registry);

  let isNew = false;
  const { bootstrapKeys, outboxBytesMax } = options;
  const identity = createIdentity(
    { ...(await contextOf("identity")), signals },
    { bootstrapKeys, onBootstrap: () => (isNew = true) },
  );
  const profile = createProfile(await contextOf("profile"), { outboxBytesMax });
  const profiles = transportTo(profile);
  const profileClient = createClient(ProfileService, profiles);
  const event = createEvent(await contextOf("event"), profileClient, { ...options.event, outboxBytesMax });
  const events = transportTo(event);
  const metric = createMetric(await contextOf("metric"), {
    events: createClient(EventService, events),
    profiles: profileClient,
  });
  // Who takes messages starts before who sends them: what is left in an outbox is published from the first moment on.
  const services = [identity, metric, event, profile];
  for (const service of services) await owner.own(service).start();

  const transports = {
    identity: transportTo(identity),
    profiles,
    events,
    metrics: transportTo(metric),
  };
  const clients = createClients(transports);
  const gateway = await createGateway({
    clients,
    clock,
    log,
    registry,
    limits: options.limits,
    compat: options.compat,
    listener: options.listener,
    signals,
    callerAgeMsMax: options.callerAgeMsMax,
    secret: internalToken,
  });
  owner.defer(() => gateway.close());
  const routes: Routes = (router) => {
    for (const service of services) service.routes(router);
    busRoutes(
      bus,
      services.flatMap(({ outbox }) => outbox ?? []),
    )(router);
  };
  return { gateway, transports, routes, checkReady: clients.checkReady, isNew };
}
