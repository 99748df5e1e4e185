/** Long work in steps: between them everybody else has their turn. */
import { setImmediate } from "node:timers/promises";

// A probe waits for a few of them at most.
const stepMsMax = 10;

/** Begins with the first step. Every loop that may run for long waits for `next` in each round. */
export class Steps {
  #begunMs = performance.now();

  /** Lets others in, if this step has taken long enough. */
  async next(): Promise<void> {
    if (performance.now() - this.#begunMs < stepMsMax) return;
    await setImmediate();
    this.#begunMs = performance.now();
  }
}
