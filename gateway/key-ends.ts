/**
 * Keys of which the identity service has signalled that they end. A signal refuses nobody: it makes the gateway ask identity again, who owns the
 * truth, so that a forged or repeated one locks no good key out.
 */
import { fromBinary } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import { KeyEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import type { Signals } from "#shared/bus/signals.ts";

/** See above. */
export interface KeyEnds {
  /**
   * Whether what is remembered of a key was asked for before a signal, so that identity is to be asked again.
   * @param askedAtMs when it was asked for, by performance.now().
   */
  isOutdated(keyId: string, askedAtMs: number): boolean;
}

/** Instants by performance.now(), which no change of the machine's time moves. Answers that were asked for before them are outdated. */
interface Ending {
  /** The last one that has passed. */
  sinceMs: number;
  /** One in the future, for signals that came too soon after that. */
  nextMs: number | undefined;
}

// When one is pushed out, those who remembered it have asked again, unless so many were signalled within a few seconds; then the age of what is
// remembered does it.
const keysMax = 10_000;
/** However many signals come, a gateway asks for a key again at most once in this time; a key that ends within it is refused that much later. */
export const askAgainIntervalMs = 1_000;

/** @param signals without them nothing is known here. */
export function createKeyEnds(signals: Signals | undefined): KeyEnds {
  const endings = new LRUCache<string, Ending>({ max: keysMax });

  /** @returns a key's ending as of now. */
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
