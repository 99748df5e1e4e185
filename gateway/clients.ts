/** The RPC clients of the services behind the gateway. */
import type { CallOptions, Client, Transport } from "@connectrpc/connect";
import { BusService } from "#proto/daybook/common/v1/bus_pb.ts";
import { HealthService } from "#proto/daybook/common/v1/health_pb.ts";
import { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import { RejectedWriteService } from "#proto/daybook/event/v1/rejected_pb.ts";
import { AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { ClientService } from "#proto/daybook/identity/v1/clients_pb.ts";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import { PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import { WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import type { Process } from "#proto/daybook/dashboard/v1/dashboard_pb.ts";
import { bindable, createServiceClient, type BoundClient } from "#shared/rpc/clients.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { describeProcesses } from "./processes.ts";

export const serviceNames = ["identity", "profiles", "events", "metrics", "webhooks"] as const;
export type ServiceName = (typeof serviceNames)[number];

export type Transports = Record<ServiceName, Transport>;

export interface Clients {
  identity: Client<typeof IdentityService>;
  profiles: Client<typeof ProfileService>;
  events: Client<typeof EventService>;
  metrics: Client<typeof MetricService>;
  webhooks: Client<typeof WebhookService>;
  /** Writes that were refused. */
  rejectedWrites: Client<typeof RejectedWriteService>;
  /** Privacy requests and suppressions. */
  privacy: Client<typeof PrivacyService>;
  /** The internal clients, for operators. */
  internalClients: Client<typeof ClientService>;
  /** Partner apps and their installations. */
  apps: Client<typeof AppService>;
  /** What the authorization server keeps. */
  oauth: Client<typeof OAuthService>;
  /** Members of the dashboard, their sessions and the audit. */
  members: Client<typeof MemberService>;
  /** Bus operations for operators, by service with an outbox. */
  outboxes: Record<"event" | "profile" | "metric", Client<typeof BusService>>;
  /** Rejects unless a service is ready. */
  checkReady: (name: ServiceName) => Promise<void>;
  /** Asks this gateway and every replica of every service who they are. One that does not answer is not ready. */
  describeProcesses: () => Promise<Process[]>;
}

/** The services bound to one request: calls take no options and fail with a DaybookError. */
export type Services = {
  [Name in ServiceName | "apps" | "rejectedWrites" | "privacy" | "members"]: BoundClient<Clients[Name]>;
};

const readyTimeoutMs = 2_000;

export function createClients(transports: Transports): Clients {
  const health = Object.fromEntries(
    serviceNames.map((name) => [name, createServiceClient(HealthService, transports[name])]),
  ) as Record<ServiceName, Client<typeof HealthService>>;
  return {
    identity: createServiceClient(IdentityService, transports.identity),
    profiles: createServiceClient(ProfileService, transports.profiles),
    events: createServiceClient(EventService, transports.events),
    metrics: createServiceClient(MetricService, transports.metrics),
    webhooks: createServiceClient(WebhookService, transports.webhooks),
    rejectedWrites: createServiceClient(RejectedWriteService, transports.events),
    privacy: createServiceClient(PrivacyService, transports.profiles),
    internalClients: createServiceClient(ClientService, transports.identity),
    apps: createServiceClient(AppService, transports.identity),
    oauth: createServiceClient(OAuthService, transports.identity),
    members: createServiceClient(MemberService, transports.identity),
    outboxes: {
      event: createServiceClient(BusService, transports.events),
      profile: createServiceClient(BusService, transports.profiles),
      metric: createServiceClient(BusService, transports.metrics),
    },
    describeProcesses: () => describeProcesses(transports),
    async checkReady(name) {
      await health[name].checkHealth({}, systemCall("gateway", readyTimeoutMs));
    },
  };
}

/** Prepares the clients once, so that binding them to each request's options is cheap. */
export function bindableServices(clients: Clients): (options: CallOptions) => Services {
  const identity = bindable(clients.identity);
  const profiles = bindable(clients.profiles);
  const events = bindable(clients.events);
  const metrics = bindable(clients.metrics);
  const webhooks = bindable(clients.webhooks);
  const apps = bindable(clients.apps);
  const rejectedWrites = bindable(clients.rejectedWrites);
  const privacy = bindable(clients.privacy);
  const members = bindable(clients.members);
  return (options) => ({
    identity: identity(options),
    profiles: profiles(options),
    events: events(options),
    metrics: metrics(options),
    webhooks: webhooks(options),
    apps: apps(options),
    rejectedWrites: rejectedWrites(options),
    privacy: privacy(options),
    members: members(options),
  });
}
