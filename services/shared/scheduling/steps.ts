/** Long work in steps that yield to the event loop in between. */
import { setImmediate } from "node:timers/promises";

// Health probes may wait for a few such steps.
const stepMsMax = 10;

/** Starts the first step. Every loop that may run for long awaits `next` in each iteration. */
export class Steps {
  #begunMs = performance.now();

  /** Yields to the event loop if this step has taken 10 ms. */
  async next(): Promise<void> {
    if (performance.now() - this.#begunMs < stepMsMax) return;
    await setImmediate();
    this.#begunMs = performance.now();
  }
}
