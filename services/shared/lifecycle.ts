/** Start and stop of a process: everything started has an owner that closes it, in reverse order. */
import { ConfigError } from "./config.ts";
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

/**
 * Runs a process until SIGTERM or SIGINT, then closes it in order and exits with 0. A start that fails exits with 1, after closing what it
 * had started.
 */
export async function runProcess(log: Log, start: (owner: Owner) => Promise<void>): Promise<void> {
  const owner = new Owner();
  const stopped = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stopped.resolve());
  let exitCode = 0;
  try {
    await start(owner);
    await stopped.promise;
  } catch (error) {
    exitCode = 1;
    if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
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
