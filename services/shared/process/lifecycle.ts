/** Start and stop of a process: everything started has an owner that closes it, in reverse order. */
import { ConfigError, type SettingsReader } from "./config.ts";
import type { Log } from "./log.ts";

/** Something started that must be closed. */
export interface Closable {
  close(): Promise<void>;
}

/** Closes what it was given, the last first. */
export class Owner implements Closable {
  readonly #owned: Closable[] = [];

  /** Takes charge of something, and returns it. */
  own<T extends Closable>(thing: T): T {
    this.#owned.push(thing);
    return thing;
  }

  /** Takes charge of what `close` ends. */
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
// What a process may take to stop is 30 s, and the connections that are open then take up to 13.
const shutdownDelayMsMax = 15_000;

/** Reads SHUTDOWN_DELAY_MS: for how long a process that was told to stop goes on accepting, so that who sends it connections learns of it first. */
export function readShutdownDelayMs(reader: SettingsReader): number {
  return reader.integer("SHUTDOWN_DELAY_MS", shutdownDelayMsDefault, 0, shutdownDelayMsMax);
}

/**
 * Runs a process until SIGTERM or SIGINT, then closes it in order and exits with 0. A start that fails exits with 1, after closing what it
 * had started.
 * @param start ends early, with any error, when its signal says that the process is to stop.
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
  // Each of them may come more than once: on Ctrl+C the terminal sends one, and npm, which got it too, another. Without a listener the second
  // would end the process in the middle of its shutdown.
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
