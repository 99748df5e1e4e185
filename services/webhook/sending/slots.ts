/**
 * Slots of attempts. Endpoints that are quick and those that may not be have separate ones, and an attempt that takes
 * long leaves the slots of the quick. So an endpoint that is dead, slow or hostile takes none from those that are well.
 */
import type { Uuid } from "#shared/values/ids.ts";
import type { Lane } from "./lane.ts";

export interface SlotCounts {
  /** Attempts at a time to endpoints that are quick. */
  healthy: number;
  /** To all others. */
  suspect: number;
  /** Of these, to endpoints of one property. */
  suspectPerProperty: number;
  /** Attempts that were begun as those of a quick endpoint and take long. */
  slow: number;
}

export const slotCountsDefault: SlotCounts = { healthy: 256, suspect: 64, suspectPerProperty: 16, slow: 512 };

/** The slots that an attempt has. */
export interface Slot {
  kind: "healthy" | "suspect" | "slow";
  property: Uuid;
}

export interface Slots {
  /** Whether any attempt of a kind can begin. */
  hasRoom(kind: "healthy" | "suspect"): boolean;
  /** Takes a slot for an attempt; undefined when its property has its share of those for suspect endpoints. */
  take(lane: Lane): Slot | undefined;
  /** Frees the slot of a quick endpoint whose attempt takes long, if those of slow ones have room. */
  slowDown(slot: Slot): void;
  release(slot: Slot): void;
  readonly used: number;
}

export function createSlots(counts: SlotCounts): Slots {
  const used = { healthy: 0, suspect: 0, slow: 0 };
  const suspectOf = new Map<Uuid, number>();
  return {
    hasRoom: (kind) => used[kind] < counts[kind],
    take({ isSuspect, property }) {
      const kind = isSuspect ? "suspect" : "healthy";
      const own = suspectOf.get(property) ?? 0;
      if (used[kind] >= counts[kind] || (isSuspect && own >= counts.suspectPerProperty)) return undefined;
      used[kind]++;
      if (isSuspect) suspectOf.set(property, own + 1);
      return { kind, property };
    },
    slowDown(slot) {
      if (slot.kind !== "healthy" || used.slow >= counts.slow) return;
      used.healthy--;
      used.slow++;
      slot.kind = "slow";
    },
    release({ kind, property }) {
      used[kind]--;
      if (kind !== "suspect") return;
      const left = (suspectOf.get(property) ?? 0) - 1;
      if (left > 0) suspectOf.set(property, left);
      else suspectOf.delete(property);
    },
    get used() {
      return used.healthy + used.suspect + used.slow;
    },
  };
}
