/** Starting a service whose database may be away, or leave in the middle of it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "./log.ts";
import { isDatabaseAway } from "../database/failures.ts";
import type { Service } from "./service.ts";

const retryDelayMs = 250;
const warnIntervalMs = 10_000;

/**
 * Starts a service as soon as its database lets it, however long that takes.
 * @param signal ends the waiting.
 * @throws Error when the start fails for another reason than that the database is away.
 */
export async function startService(service: Service, log: Log, signal: AbortSignal): Promise<void> {
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      return await service.start();
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      if (performance.now() - warnedAtMs > warnIntervalMs) {
        log.warn({ err: error }, "PostgreSQL is away: the start is tried again until it is there");
        warnedAtMs = performance.now();
      }
    }
    await sleep(retryDelayMs, undefined, { signal });
  }
}
