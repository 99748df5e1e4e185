/** Start and stop of a process: everything started has an owner that closes it, in reverse order. */
import { ConfigError, type SettingsReader } from "./config.ts";
import type { Log } from "./log.ts";

export interface Closable {
  close(): Promise<void>;
}

/** Closes what it owns, the last first. */
export class Owner implements Closable {
  readonly #owned: Closable[] = [];

  /** Takes ownership, and returns the argument. */
  own<T extends Closable>(thing: T): T {
    this.#owned.push(thing);
    return thing;
  }

  /** Calls `close` at the end. */
  defer(close: () => Promise<void>): void {
    this.#owned.push({ close });
  }

  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (let thing = this.#owned.pop(); thing; thing = this.#owned.pop()) {
      await thing.close().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw new AggregateError(failures, "not everything could be closed");
  }
}

const shutdownTimeoutMs = 30_000;
const shutdownDelayMsDefault = 1_000;
// Of the 30 s that a process may take to stop, open connections can take up to 13 after this delay.
const shutdownDelayMsMax = 15_000;

/** Reads SHUTDOWN_DELAY_MS: how long a stopping process still accepts, so that load balancers can turn away first. */
export function readShutdownDelayMs(reader: SettingsReader): number {
  return reader.integer("SHUTDOWN_DELAY_MS", shutdownDelayMsDefault, 0, shutdownDelayMsMax);
}

/**
 * Runs a process until SIGTERM or SIGINT, then closes it in order. Exits with 0, or 1 after a failed start or close.
 * @param start may end early, with any error, when its signal is aborted. What it started is closed if it fails.
 */
export async function runProcess(
  log: Log,
  start: (owner: Owner, stopping: AbortSignal) => Promise<void>,
): Promise<void> {
  const owner = new Owner();
  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    stopping.signal.addEventListener("abort", () => resolve());
  });
  // On Ctrl+C both the terminal and npm send a signal. Unhandled, the second would kill the process.
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stopping.abort());
  let exitCode = 0;
  try {
    await start(owner, stopping.signal);
    await stopped;
  } catch (error) {
    if (!stopping.signal.aborted) exitCode = 1;
    if (stopping.signal.aborted) log.debug({ err: error }, "stopped while it was starting");
    else if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
    else log.fatal({ err: error }, "the process could not start");
  }
  setTimeout(() => {
    log.fatal("shutdown took too long");
    process.exit(1);
  }, shutdownTimeoutMs).unref();
  await owner.close().catch((error: unknown) => {
    exitCode = 1;
    log.error({ err: error }, "shutdown was not clean");
  });
  process.exit(exitCode);
}
