import type { Client } from "@connectrpc/connect";
import type { ProfileService } from "#proto/daybook/profile/v1/profile_pb.ts";
import type { OutboxRelay } from "#shared/outbox.ts";
import type { ServiceContext } from "#shared/service.ts";
import type { RecordingFloor } from "./floor.ts";

/** What this service works with. */
export interface EventContext extends ServiceContext {
  /** Knows whose identifiers are, and who was merged into whom. */
  profiles: Client<typeof ProfileService>;
  relay: OutboxRelay;
  /** Gives events the instant of their reception. */
  floor: RecordingFloor;
}
