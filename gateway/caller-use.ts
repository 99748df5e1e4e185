/**
 * Reports the last use of keys and installations to the identity service, in batches and at most about once a minute
 * per caller, so that requests cost no write. A failed report is repeated with the next use.
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

export interface CallerUse extends Closable {
  note(caller: { propertyId: string; callerId: string }): void;
}

const callersMax = 20_000;
const usesMax = 500;
const reportIntervalMs = 2_000;
const reportAgainMs = 60_000;
const call = systemCall("gateway", 2_000);

export function createCallerUse(identity: Client<typeof IdentityService>, clock: Clock, log: Log): CallerUse {
  // Unreported uses by caller. A caller beyond callersMax is noted at its next use.
  const uses = new Map<string, { propertyId: string; callerId: string; usedAt: Micros }>();
  const reported = new LRUCache<string, true>({ max: callersMax, ttl: reportAgainMs });

  async function report(isDue: (callerId: string) => boolean): Promise<void> {
    const due = [...uses.values()].filter(({ callerId }) => isDue(callerId));
    for (let at = 0; at < due.length; at += usesMax) {
      const chunk = due.slice(at, at + usesMax);
      for (const use of chunk) {
        reported.set(use.callerId, true);
        uses.delete(use.callerId);
      }
      const message = chunk.map(({ propertyId, callerId, usedAt }) => ({
        propertyId,
        keyId: callerId,
        usedAt: toTimestamp(usedAt),
      }));
      await identity.noteKeyUse({ uses: message }, call).catch((error: unknown) => {
        for (const { callerId } of chunk) reported.delete(callerId);
        log.warn({ err: error }, "the last use of callers could not be told");
      });
    }
  }

  const reporting = repeat(reportIntervalMs, log, "tell the last use of callers", () =>
    report((callerId) => !reported.has(callerId)),
  );

  return {
    note({ propertyId, callerId }) {
      const usedAt = clock.nowMicros();
      const use = uses.get(callerId);
      if (use) use.usedAt = usedAt;
      else if (uses.size < callersMax) uses.set(callerId, { propertyId, callerId, usedAt });
    },
    async close() {
      await reporting.close();
      await report(() => true);
    },
  };
}
