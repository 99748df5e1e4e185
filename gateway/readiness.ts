/** Readiness of the gateway: the services are asked at most once a second, however often it is checked. */

export interface Readiness {
  /** Rejects while a service is not ready, and always after leave(). */
  check(): Promise<void>;
  /** Marks the gateway as unready because it is about to stop. */
  leave(): void;
}

const keptMs = 1_000;

/** @param ask rejects while a service is not ready. */
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
