/** Counts bytes in memory per holder and in total, against limits. */

/** The limit that is reached. */
export type Shortage = "holder" | "all";

export interface BytesUnderWay {
  /**
   * The limit that more bytes would exceed, if any.
   * @param share fraction of the limits to apply, up to 1.
   */
  shortage(holder: string, bytes: number, share?: number): Shortage | undefined;
  /** Adds bytes; a negative number subtracts them. */
  add(holder: string, bytes: number): void;
  readonly total: number;
}

/** @param limits bytes per holder and in total. */
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
