/** Periodic background work. */
import type { Log } from "../process/log.ts";
import type { Closable } from "../process/lifecycle.ts";
import { untraced } from "../tracing/spans.ts";

export interface Repeated extends Closable {
  /** Runs the work now, or once more after the current run. */
  wake(): void;
}

/**
 * Runs `work` every `intervalMs`, never twice at once. A failure is logged, and the next interval retries. Closing
 * aborts `signal` and waits for a running `work`.
 */
export function repeat(
  intervalMs: number,
  log: Log,
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
): Repeated {
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  let isWoken = false;
  const run = (): void => {
    running ??= untraced(() => work(closing.signal))
      .catch((error: unknown) => log.error({ err: error, work: name }, "repeated work failed and will be done again"))
      .finally(() => {
        running = undefined;
        if (isWoken && !closing.signal.aborted) run();
        isWoken = false;
      });
  };
  const timer = setInterval(run, intervalMs);
  return {
    wake() {
      isWoken = running !== undefined;
      if (!closing.signal.aborted) run();
    },
    async close() {
      clearInterval(timer);
      closing.abort();
      await running;
    },
  };
}
