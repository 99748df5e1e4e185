/** Rate windows of client addresses, for requests without a good key. Counted per gateway process. */
import { clientOf } from "#shared/values/client-address.ts";
import type { Rate } from "./limits.ts";
import type { WindowClock } from "./window-clock.ts";

export interface AddressWindows {
  /** Takes a request from the window of an address. */
  take(address: string): Rate;
  /** Reads a window without taking a request. */
  peek(address: string): Rate;
  /** Returns a request whose key turned out to be good. */
  giveBack(address: string): void;
}

// Addresses beyond this limit share one window.
const windowsMax = 100_000;

/** @param limit requests a minute per address. */
export function createAddressWindows(clock: WindowClock, limit: number): AddressWindows {
  let windowNumber = 0;
  let counts = new Map<string, number>();

  function count(address: string, taken: -1 | 0 | 1): Rate {
    const { number, resetSeconds } = clock.now();
    if (number !== windowNumber) {
      windowNumber = number;
      counts = new Map();
    }
    const client = clientOf(address);
    const key = counts.size < windowsMax || counts.has(client) ? client : "others";
    const used = Math.max(0, (counts.get(key) ?? 0) + taken);
    if (taken !== 0 && used <= limit) counts.set(key, used);
    return { limit, remaining: Math.max(0, limit - used), resetSeconds, isOver: used > limit };
  }

  return {
    take: (address) => count(address, 1),
    peek: (address) => count(address, 0),
    giveBack: (address) => void count(address, -1),
  };
}
