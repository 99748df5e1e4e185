import type { PreparedEvent } from "./prepare.ts";
import type { Uuid } from "#shared/values/ids.ts";

/** An event whose profile is known. */
export interface ResolvedEvent extends PreparedEvent {
  /** UUIDv7; without one the event is given a new one. */
  id?: Uuid | undefined;
  /** Null for an anonymous event. */
  profileId: Uuid | null;
  /** Profiles that were merged into that one. Only an event with a unique_id needs them. */
  formerProfileIds?: readonly Uuid[];
  /** The identifier that an anonymous event came with. */
  identifier: { type: string; value: string } | null;
}
