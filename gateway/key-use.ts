/**
 * Tells the identity service when keys were last used: gathered, and for each key about once a minute, so that it costs no write for a request.
 * What could not be told is told with the next use.
 */
import type { Client } from "@connectrpc/connect";
import { LRUCache } from "lru-cache";
import type { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { Clock, Micros } from "#shared/values/clock.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import type { Closable } from "#shared/process/lifecycle.ts";
import type { Log } from "#shared/process/log.ts";
import { repeat } from "#shared/scheduling/repeat.ts";
import { toTimestamp } from "#shared/values/time.ts";

/** See above. */
export interface KeyUse extends Closable {
  /** Notes that a key is used now. */
  note(key: { propertyId: string; keyId: string }): void;
}

const keysMax = 20_000;
const usesMax = 500;
const tellIntervalMs = 2_000;
const tellAgainMs = 60_000;
const call = systemCall("gateway", 2_000);

export function createKeyUse(identity: Client<typeof IdentityService>, clock: Clock, log: Log): KeyUse {
  // Uses that are to be told, by key. Keys beyond the limit are noted when they are used again.
  const uses = new Map<string, { propertyId: string; keyId: string; usedAt: Micros }>();
  const told = new LRUCache<string, true>({ max: keysMax, ttl: tellAgainMs });

  async function tell(isDue: (keyId: string) => boolean): Promise<void> {
    const due = [...uses.values()].filter(({ keyId }) => isDue(keyId));
    for (let at = 0; at < due.length; at += usesMax) {
      const some = due.slice(at, at + usesMax);
      for (const use of some) {
        told.set(use.keyId, true);
        uses.delete(use.keyId);
      }
      const message = some.map(({ usedAt, ...key }) => ({ ...key, usedAt: toTimestamp(usedAt) }));
      await identity.noteKeyUse({ uses: message }, call).catch((error: unknown) => {
        for (const { keyId } of some) told.delete(keyId);
        log.warn({ err: error }, "the last use of keys could not be told");
      });
    }
  }

  const telling = repeat(tellIntervalMs, log, "tell the last use of keys", () => tell((keyId) => !told.has(keyId)));

  return {
    note({ propertyId, keyId }) {
      const usedAt = clock.nowMicros();
      const use = uses.get(keyId);
      if (use) use.usedAt = usedAt;
      else if (uses.size < keysMax) uses.set(keyId, { propertyId, keyId, usedAt });
    },
    async close() {
      await telling.close();
      await tell(() => true);
    },
  };
}
