import type { PreparedEvent } from "./prepare.ts";

/** An event whose profile is known. */
export interface Recordable extends PreparedEvent {
  /** UUIDv7; without one it is given one. */
  id?: string | undefined;
  /** UUID; null for an anonymous event. */
  profileId: string | null;
  /** UUIDs of profiles that were merged into that one, as far as they matter. */
  formerProfileIds?: readonly string[];
  /** What an anonymous event knows of its person. */
  identifier: { type: string; value: string } | null;
}
