import type { Client } from "@connectrpc/connect";
import type { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import type { AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import type { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { MetricService } from "#proto/daybook/metric/v1/metric_pb.ts";
import type { PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import type { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { Signals } from "#shared/bus/signals.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import type { Sealing } from "#shared/values/sealing.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Sender } from "./egress/sender.ts";
import type { Lanes } from "./sending/lanes.ts";

/** Clients of the services that the webhook service calls. */
export interface WebhookClients {
  /** Keys and installations, which own endpoints. */
  identity: Client<typeof IdentityService>;
  /** Installations of apps that have a webhook. */
  apps: Client<typeof AppService>;
  /** Stored events, for replays. */
  events: Client<typeof EventService>;
  metrics: Client<typeof MetricService>;
  profiles: Client<typeof ProfileService>;
  /** Takes reports of erasures. */
  privacy: Client<typeof PrivacyService>;
}

/** Dependencies of the webhook service. */
export interface WebhookContext extends ServiceContext, WebhookClients {
  /** Keys and installations that end. */
  signals: Signals;
  /** Seals the secrets and headers of endpoints. */
  sealing: Sealing;
  /** Checks the address of an endpoint. @returns it as it is kept. @throws DaybookError `url_not_allowed` */
  checkUrl: (url: string) => string;
  /** Sends a message once. */
  sender: Sender;
  /** Sends deliveries. */
  lanes: Lanes;
  /** Call this after an endpoint was changed, disabled or deleted. */
  endpointChanged: (endpoint: Uuid) => void;
  /** Call this after deliveries became due. */
  deliveriesDue: (property: Uuid, endpoints: ReadonlySet<Uuid>) => void;
  /** Does what follows when an endpoint was disabled or deleted. */
  settling: { wake(): void };
  /** Carries out replays. */
  replaying: { wake(): void };
}
