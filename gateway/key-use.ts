/**
 * Reports the last use of keys to the identity service, in batches and at most about once a minute per key, so that
 * requests cost no write. A failed report is repeated with the next use.
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

export interface KeyUse extends Closable {
  note(key: { propertyId: string; keyId: string }): void;
}

const keysMax = 20_000;
const usesMax = 500;
const reportIntervalMs = 2_000;
const reportAgainMs = 60_000;
const call = systemCall("gateway", 2_000);

export function createKeyUse(identity: Client<typeof IdentityService>, clock: Clock, log: Log): KeyUse {
  // Unreported uses by key. A key beyond keysMax is noted at its next use.
  const uses = new Map<string, { propertyId: string; keyId: string; usedAt: Micros }>();
  const reported = new LRUCache<string, true>({ max: keysMax, ttl: reportAgainMs });

  async function report(isDue: (keyId: string) => boolean): Promise<void> {
    const due = [...uses.values()].filter(({ keyId }) => isDue(keyId));
    for (let at = 0; at < due.length; at += usesMax) {
      const chunk = due.slice(at, at + usesMax);
      for (const use of chunk) {
        reported.set(use.keyId, true);
        uses.delete(use.keyId);
      }
      const message = chunk.map(({ usedAt, ...key }) => ({ ...key, usedAt: toTimestamp(usedAt) }));
      await identity.noteKeyUse({ uses: message }, call).catch((error: unknown) => {
        for (const { keyId } of chunk) reported.delete(keyId);
        log.warn({ err: error }, "the last use of keys could not be told");
      });
    }
  }

  const reporting = repeat(reportIntervalMs, log, "tell the last use of keys", () =>
    report((keyId) => !reported.has(keyId)),
  );

  return {
    note({ propertyId, keyId }) {
      const usedAt = clock.nowMicros();
      const use = uses.get(keyId);
      if (use) use.usedAt = usedAt;
      else if (uses.size < keysMax) uses.set(keyId, { propertyId, keyId, usedAt });
    },
    async close() {
      await reporting.close();
      await report(() => true);
    },
  };
}
