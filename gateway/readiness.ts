/** Whether a gateway can do its work: asked of the services at most once a second, however many ask it. */

/** See above. */
export interface Readiness {
  /** Rejects while the gateway cannot do its work, and for good once it leaves. */
  check(): Promise<void>;
  /** From now on the gateway is not ready: it is about to stop. */
  leave(): void;
}

const keptMs = 1_000;

/** @param ask asks the services; rejects while one of them cannot do its work. */
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
