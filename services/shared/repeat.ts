/** Work that a process does on its own, again and again, until it is closed. */
import type { Log } from "./log.ts";
import type { Closable } from "./lifecycle.ts";

/**
 * Does `work` every `intervalMs`, never twice at once. When it fails it says so in the log and is done again at its next time.
 * Closing waits for work that is under way; `signal` tells it to hurry.
 */
export function repeat(
  intervalMs: number,
  log: Log,
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
): Closable {
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= work(closing.signal)
      .catch((error: unknown) => log.error({ err: error, work: name }, "repeated work failed and will be done again"))
      .finally(() => (running = undefined));
  }, intervalMs);
  return {
    async close() {
      clearInterval(timer);
      closing.abort();
      await running;
    },
  };
}
