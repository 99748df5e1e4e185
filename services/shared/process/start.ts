/** Starts a service while its database may be away. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "./log.ts";
import { isDatabaseAway } from "../database/failures.ts";
import type { Service } from "./service.ts";

const retryDelayMs = 250;
const warnIntervalMs = 10_000;

/**
 * Starts a service, and retries without limit while its database is away.
 * @param signal ends the retries.
 * @throws Error when the start fails for another reason, or `signal` is aborted.
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
