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
  let isLeaving = false;
  return {
    async check() {
      if (isLeaving) throw new Error("the gateway is about to stop");
      if (answer === undefined || (answeredAtMs > 0 && performance.now() - answeredAtMs > keptMs)) {
        answeredAtMs = 0;
        answer = ask().finally(() => (answeredAtMs = performance.now()));
      }
      await answer;
    },
    leave() {
      isLeaving = true;
    },
  };
}
