/** Work that a process does on its own, again and again, until it is closed. */
import type { Log } from "../process/log.ts";
import type { Closable } from "../process/lifecycle.ts";

/** Work that is repeated. */
export interface Repeated extends Closable {
  /** Has the work done now, and once more if it is being done. */
  wake(): void;
}

/**
 * Does `work` every `intervalMs`, never twice at once. When it fails it says so in the log and is done again at its next time.
 * Closing waits for work that is under way; `signal` tells it to hurry.
 */
export function repeat(
  intervalMs: number,
  log: Log,
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
): Repeated {
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  let isAskedAgain = false;
  const run = (): void => {
    running ??= work(closing.signal)
      .catch((error: unknown) => log.error({ err: error, work: name }, "repeated work failed and will be done again"))
      .finally(() => {
        running = undefined;
        if (isAskedAgain && !closing.signal.aborted) run();
        isAskedAgain = false;
      });
  };
  const timer = setInterval(run, intervalMs);
  return {
    wake() {
      isAskedAgain = running !== undefined;
      if (!closing.signal.aborted) run();
    },
    async close() {
      clearInterval(timer);
      closing.abort();
      await running;
    },
  };
}
