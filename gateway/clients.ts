/** The services behind the gateway. */
import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { BusService } from "#proto/daybook/common/v1/bus_pb.ts";
import { HealthService } from "#proto/daybook/common/v1/health_pb.ts";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { callOptions } from "#shared/rpc/interceptors.ts";

/** How each service is reached. */
export type Transports = Record<"identity" | "profiles" | "events" | "metrics", Transport>;

/** A client of each service. */
export interface Clients {
  identity: Client<typeof IdentityService>;
  profiles: Client<typeof ProfileService>;
  events: Client<typeof EventService>;
  metrics: Client<typeof MetricService>;
  /** What operators ask of the services that have an outbox, by its name. */
  outboxes: Record<"event" | "profile", Client<typeof BusService>>;
  /** Rejects unless every service can do its work. */
  checkReady: () => Promise<void>;
}

const readyTimeoutMs = 2_000;

export function createClients(transports: Transports): Clients {
  const health = Object.values(transports).map((transport) => createClient(HealthService, transport));
  return {
    identity: createClient(IdentityService, transports.identity),
    profiles: createClient(ProfileService, transports.profiles),
    events: createClient(EventService, transports.events),
    metrics: createClient(MetricService, transports.metrics),
    outboxes: {
      event: createClient(BusService, transports.events),
      profile: createClient(BusService, transports.profiles),
    },
    async checkReady() {
      const options = callOptions({ requestId: "", caller: "gateway" }, readyTimeoutMs);
      await Promise.all(health.map((client) => client.checkHealth({}, options)));
    },
  };
}
