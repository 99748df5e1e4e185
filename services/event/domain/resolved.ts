import type { RequestClaim } from "#proto/daybook/event/v1/event_pb.ts";
import type { PreparedEvent } from "./prepare.ts";
import type { Uuid } from "#shared/values/ids.ts";

/** An event whose profile is resolved; an anonymous event has none. */
export interface ResolvedEvent extends PreparedEvent {
  /** UUIDv7; a new one by default. */
  id?: Uuid | undefined;
  /** Null for an anonymous event. */
  profileId: Uuid | null;
  /** Profiles merged into `profileId`. Only an event with a unique_id needs them. */
  formerProfileIds?: readonly Uuid[];
  /** The identifier that an anonymous event came with. */
  identifier: { type: string; value: string } | null;
  /** The claim that is made as it is stored. */
  request?: RequestClaim | undefined;
  /** TypeID of the merged profile that it named. */
  resolvedFrom?: string | undefined;
}
