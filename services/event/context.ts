import type { Client } from "@connectrpc/connect";
import type { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import type { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { OutboxRelay } from "#shared/outbox/outbox.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import type { LowWatermark } from "./low-watermark.ts";
import type { Requests } from "./requests.ts";
import type { EventTypes } from "./types.ts";

/** Dependencies of the RPCs, consumers and jobs of this service. */
export interface EventContext extends ServiceContext {
  /** Resolves identifiers to profiles, and merged profiles to survivors. */
  profiles: Client<typeof ProfileService>;
  /** Stores the answers to requests with an Idempotency-Key. */
  identity: Client<typeof IdentityService>;
  /** Claims Idempotency-Keys, if this database has them. */
  requests: Requests | undefined;
  /** Takes reports of what was counted and emptied for privacy requests. */
  privacy: Client<typeof PrivacyService>;
  relay: OutboxRelay;
  /** Limits the number of event types of a property. */
  types: EventTypes;
  /** Assigns received_at to events. */
  watermark: LowWatermark;
}
