import type { Client } from "@connectrpc/connect";
import type { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { OutboxRelay } from "#shared/outbox/outbox.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import type { LowWatermark } from "./low-watermark.ts";
import type { EventTypes } from "./types.ts";

/** What this service works with. */
export interface EventContext extends ServiceContext {
  /** Knows whose identifiers are, and who was merged into whom. */
  profiles: Client<typeof ProfileService>;
  /** Has the answers that were given to requests with an Idempotency-Key. */
  identity: Client<typeof IdentityService>;
  relay: OutboxRelay;
  /** Limits how many types of events a property has. */
  types: EventTypes;
  /** Gives events the instant of their reception. */
  watermark: LowWatermark;
}
