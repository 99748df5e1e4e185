/** Counts bytes that are under way, of each holder and in all, against what they may be. */

/** Whose share is used up. */
export type Shortage = "holder" | "all";

/** See above. */
export interface BytesUnderWay {
  /**
   * Which limit stands in the way of more; undefined when none does.
   * @param share of the limits that counts, up to 1.
   */
  shortage(holder: string, bytes: number, share?: number): Shortage | undefined;
  /** Counts bytes, or with a negative number gives them back. */
  add(holder: string, bytes: number): void;
  readonly total: number;
}

/** @param limits bytes of one holder, and of all together. */
export function createBytesUnderWay(limits: { perHolderMax: number; allMax: number }): BytesUnderWay {
  const held = new Map<string, number>();
  let total = 0;
  return {
    shortage(holder, bytes, share = 1) {
      if ((held.get(holder) ?? 0) + bytes > share * limits.perHolderMax) return "holder";
      return total + bytes > share * limits.allMax ? "all" : undefined;
    },
    add(holder, bytes) {
      total += bytes;
      const now = (held.get(holder) ?? 0) + bytes;
      if (now > 0) held.set(holder, now);
      else held.delete(holder);
    },
    get total() {
      return total;
    },
  };
}
