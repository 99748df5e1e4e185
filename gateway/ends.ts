/**
 * Keys and members for which the identity service has sent an end signal: a key ends, or sessions of a member do. A
 * signal only makes the gateway ask identity again, so a forged or repeated one locks out nobody.
 */
import { LRUCache } from "lru-cache";
import type { Signals } from "#shared/bus/signals.ts";

export interface Ends {
  /**
   * Whether a cached answer was requested before its signal and must be fetched again.
   * @param id of a key, or of a member.
   * @param askedAtMs when it was requested, by performance.now().
   */
  isOutdated(id: string, askedAtMs: number): boolean;
}

/** Instants by performance.now(), which clock changes do not affect. Answers requested before them are outdated. */
interface Ending {
  /** The last instant that has passed. */
  sinceMs: number;
  /** A later instant, for signals that came within askAgainIntervalMs of the last one. */
  nextMs: number | undefined;
}

// Evicting an entry is safe: what is cached expires after 5 s anyway.
const endingsMax = 10_000;
/** Minimum interval between fetches because of signals. What ends within it is refused later by that. */
export const askAgainIntervalMs = 1_000;

/**
 * @param signals without them nothing is ever outdated.
 * @param idOf reads the id of a signal.
 */
export function createEnds(signals: Signals | undefined, subject: string, idOf: (payload: Uint8Array) => string): Ends {
  const endings = new LRUCache<string, Ending>({ max: endingsMax });

  /** @returns the ending of an id as of now. */
  function endingOf(id: string, nowMs: number): Ending | undefined {
    const ending = endings.get(id);
    if (ending?.nextMs !== undefined && ending.nextMs <= nowMs) {
      ending.sinceMs = ending.nextMs;
      ending.nextMs = undefined;
    }
    return ending;
  }

  signals?.subscribe(subject, (payload) => {
    const id = idOf(payload);
    const nowMs = performance.now();
    const ending = endingOf(id, nowMs);
    if (!ending || nowMs - ending.sinceMs >= askAgainIntervalMs) {
      endings.set(id, { sinceMs: nowMs, nextMs: undefined });
    } else {
      ending.nextMs ??= ending.sinceMs + askAgainIntervalMs;
    }
  });
  return {
    isOutdated(id, askedAtMs) {
      const ending = endingOf(id, performance.now());
      return ending !== undefined && askedAtMs <= ending.sinceMs;
    },
  };
}
