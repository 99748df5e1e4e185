import type { PreparedEvent } from "./prepare.ts";

/** An event whose profile is known. */
export interface ResolvedEvent extends PreparedEvent {
  /** UUIDv7; without one the event is given a new one. */
  id?: string | undefined;
  /** UUID; null for an anonymous event. */
  profileId: string | null;
  /** UUIDs of profiles that were merged into that one. Only an event with a unique_id needs them. */
  formerProfileIds?: readonly string[];
  /** The identifier that an anonymous event came with. */
  identifier: { type: string; value: string } | null;
}
