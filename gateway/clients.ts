/** The RPC clients of the services behind the gateway. */
import type { CallOptions, Client, Transport } from "@connectrpc/connect";
import { BusService } from "#proto/daybook/common/v1/bus_pb.ts";
import { HealthService } from "#proto/daybook/common/v1/health_pb.ts";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { bindable, createServiceClient, type BoundClient } from "#shared/rpc/clients.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";

export type Transports = Record<"identity" | "profiles" | "events" | "metrics", Transport>;

export interface Clients {
  identity: Client<typeof IdentityService>;
  profiles: Client<typeof ProfileService>;
  events: Client<typeof EventService>;
  metrics: Client<typeof MetricService>;
  /** Bus operations for operators, by service with an outbox. */
  outboxes: Record<"event" | "profile", Client<typeof BusService>>;
  /** Rejects unless every service is ready. */
  checkReady: () => Promise<void>;
}

type ServiceName = keyof Transports;

/** The services bound to one request: calls take no options and fail with a DaybookError. */
export type Services = { [Name in ServiceName]: BoundClient<Clients[Name]> };

const readyTimeoutMs = 2_000;

export function createClients(transports: Transports): Clients {
  const health = Object.values(transports).map((transport) => createServiceClient(HealthService, transport));
  return {
    identity: createServiceClient(IdentityService, transports.identity),
    profiles: createServiceClient(ProfileService, transports.profiles),
    events: createServiceClient(EventService, transports.events),
    metrics: createServiceClient(MetricService, transports.metrics),
    outboxes: {
      event: createServiceClient(BusService, transports.events),
      profile: createServiceClient(BusService, transports.profiles),
    },
    async checkReady() {
      const options = systemCall("gateway", readyTimeoutMs);
      await Promise.all(health.map((client) => client.checkHealth({}, options)));
    },
  };
}

/** Prepares the clients once, so that binding them to each request's options is cheap. */
export function bindableServices(clients: Clients): (options: CallOptions) => Services {
  const identity = bindable(clients.identity);
  const profiles = bindable(clients.profiles);
  const events = bindable(clients.events);
  const metrics = bindable(clients.metrics);
  return (options) => ({
    identity: identity(options),
    profiles: profiles(options),
    events: events(options),
    metrics: metrics(options),
  });
}
