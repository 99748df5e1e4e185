/**
 * Readiness of the gateway: it is ready while identity is, because it can then authenticate. If it needed the other
 * services too, one that is away would take the whole API with it. Readiness asks at most once a second, however often
 * it is checked.
 */
import type { Clients } from "./clients.ts";

export interface Readiness {
  /** Rejects while the last answer was an error, and always after leave(). */
  check(): Promise<void>;
  /** Marks the gateway as unready because it is about to stop. */
  leave(): void;
  /** Aborted by leave(). Answers that never end by themselves end then. */
  readonly leaving: AbortSignal;
}

const keptMs = 1_000;

/** The readiness of a gateway with these clients. */
export function createGatewayReadiness({ checkReady }: Clients): Readiness {
  return createReadiness(() => checkReady("identity"));
}

/** @param ask rejects while who is asked is not ready. */
export function createReadiness(ask: () => Promise<void>): Readiness {
  let answer: Promise<void> | undefined;
  let answeredAtMs = 0;
  const leaving = new AbortController();
  return {
    async check() {
      if (leaving.signal.aborted) throw new Error("the gateway is about to stop");
      if (answer === undefined || (answeredAtMs > 0 && performance.now() - answeredAtMs > keptMs)) {
        answeredAtMs = 0;
        answer = ask().finally(() => (answeredAtMs = performance.now()));
      }
      await answer;
    },
    leave() {
      leaving.abort();
    },
    leaving: leaving.signal,
  };
}
