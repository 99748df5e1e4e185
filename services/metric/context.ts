import type { Client } from "@connectrpc/connect";
import type { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import type { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { OutboxRelay } from "#shared/outbox/outbox.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import type { ProfileOrdinals } from "./ordinals.ts";

/** Dependencies of the metric service. */
export interface MetricContext extends ServiceContext {
  /** Stored events and the low watermark of recording. */
  events: Client<typeof EventService>;
  /** Source of merges. */
  profiles: Client<typeof ProfileService>;
  ordinals: ProfileOrdinals;
  relay: OutboxRelay;
}
