/** Starts a service while its database may be away, or another process migrates it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "./log.ts";
import { isDatabaseAway, isLockTimeout } from "../database/failures.ts";
import type { Service } from "./service.ts";

const retryDelayMs = 250;
/** Longer, so that those who wait behind a migration for a table have it in between. */
const lockRetryDelayMs = 1_000;
const warnIntervalMs = 10_000;

/**
 * Starts a service, and retries without limit while its database is away, or its migrations wait for a lock.
 * @param signal ends the retries.
 * @param check of the database, done first.
 * @throws Error when the start fails for another reason, or `signal` is aborted.
 */
export async function startService(
  service: Service,
  log: Log,
  signal: AbortSignal,
  check?: () => Promise<void>,
): Promise<void> {
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    let delayMs: number;
    try {
      await check?.();
      return await service.start();
    } catch (error) {
      const waits = isLockTimeout(error);
      if (!waits && !isDatabaseAway(error)) throw error;
      if (performance.now() - warnedAtMs > warnIntervalMs) {
        const reason = waits
          ? "the migrations wait for another process that migrates, or for a transaction that holds a table: " +
            "the start is tried again until they can run"
          : "PostgreSQL is away: the start is tried again until it is there";
        log.warn({ err: error }, reason);
        warnedAtMs = performance.now();
      }
      delayMs = waits ? lockRetryDelayMs : retryDelayMs;
    }
    await sleep(delayMs, undefined, { signal });
  }
}
