/**
 * Keys for which the identity service has sent an end signal. A signal only makes the gateway ask identity again, so a
 * forged or repeated one locks out no good key.
 */
import { fromBinary } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import { KeyEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import type { Signals } from "#shared/bus/signals.ts";

export interface KeyEnds {
  /**
   * Whether a cached key was requested before its signal and must be fetched again.
   * @param askedAtMs when it was requested, by performance.now().
   */
  isOutdated(keyId: string, askedAtMs: number): boolean;
}

/** Instants by performance.now(), which clock changes do not affect. Answers requested before them are outdated. */
interface Ending {
  /** The last instant that has passed. */
  sinceMs: number;
  /** A later instant, for signals that came within askAgainIntervalMs of the last one. */
  nextMs: number | undefined;
}

// Evicting an entry is safe: cached keys expire after 5 s anyway.
const keysMax = 10_000;
/** Minimum interval between fetches of a key because of signals. A key that ends within it is refused later by that. */
export const askAgainIntervalMs = 1_000;

/** @param signals without them no key is ever outdated. */
export function createKeyEnds(signals: Signals | undefined): KeyEnds {
  const endings = new LRUCache<string, Ending>({ max: keysMax });

  /** @returns the ending of a key as of now. */
  function endingOf(keyId: string, nowMs: number): Ending | undefined {
    const ending = endings.get(keyId);
    if (ending?.nextMs !== undefined && ending.nextMs <= nowMs) {
      ending.sinceMs = ending.nextMs;
      ending.nextMs = undefined;
    }
    return ending;
  }

  signals?.subscribe(KeyEndingSchema.typeName, (payload) => {
    const { keyId } = fromBinary(KeyEndingSchema, payload);
    const nowMs = performance.now();
    const ending = endingOf(keyId, nowMs);
    if (!ending || nowMs - ending.sinceMs >= askAgainIntervalMs) {
      endings.set(keyId, { sinceMs: nowMs, nextMs: undefined });
    } else {
      ending.nextMs ??= ending.sinceMs + askAgainIntervalMs;
    }
  });
  return {
    isOutdated(keyId, askedAtMs) {
      const ending = endingOf(keyId, performance.now());
      return ending !== undefined && askedAtMs <= ending.sinceMs;
    },
  };
}
