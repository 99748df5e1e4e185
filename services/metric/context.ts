import type { Client } from "@connectrpc/connect";
import type { EventService } from "#proto/daybook/event/v1/event_pb.ts";
import type { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import type { ProfileOrdinals } from "./ordinals.ts";

/** What this service works with. */
export interface MetricContext extends ServiceContext {
  /** Has the events themselves, and knows how far recording is. */
  events: Client<typeof EventService>;
  /** Knows who was merged into whom. */
  profiles: Client<typeof ProfileService>;
  ordinals: ProfileOrdinals;
}
