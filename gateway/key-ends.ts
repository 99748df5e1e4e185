/** Keys of which the identity service has signalled that they end: what is remembered of them is not to be gone by any longer. */
import { fromBinary } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import { KeyEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import type { Signals } from "#shared/signals.ts";

/** See above. */
export interface KeyEnds {
  /** Whether a key has ended, as far as was signalled. */
  hasEnded(keyId: string): boolean;
}

// Keys never open anything again, so each may stay for as long as there is room. When one is pushed out, those who remembered it have asked
// again, unless so many ended within a few seconds; then the age of what is remembered does it.
const keysMax = 10_000;

/** @param signals without them nothing is known here. */
export function createKeyEnds(signals: Signals | undefined): KeyEnds {
  // When a key ends, by performance.now(), which no change of the machine's time moves.
  const endsAtMs = new LRUCache<string, number>({ max: keysMax });
  signals?.subscribe(KeyEndingSchema.typeName, (payload) => {
    const { keyId, endsInMs } = fromBinary(KeyEndingSchema, payload);
    endsAtMs.set(keyId, performance.now() + endsInMs);
  });
  return {
    hasEnded: (keyId) => (endsAtMs.get(keyId) ?? Infinity) <= performance.now(),
  };
}
