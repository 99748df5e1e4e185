/**
 * A bounded number of slots, shared fairly by keys. Each key waits in a queue of its own, and the queues take turns, so a key with thousands of
 * waiting entries delays another key by one turn.
 */

/** Limits of a fair share. */
export interface FairShareOptions {
  /** Entries at work at once, over all keys. */
  slotsMax: number;
  /** Entries of one key at work at once. */
  slotsPerKeyMax: number;
  /** Entries that wait, over all keys. */
  waitingMax: number;
  /** Entries of one key that wait. */
  waitingPerKeyMax: number;
  /** How long an entry waits at most. */
  waitMsMax: number;
  /** The error for an entry that finds its queue full, or that waited too long. */
  refusal: () => Error;
}

/** See createFairShare. */
export interface FairShare {
  /**
   * Does work once it is the turn of its key.
   * @param signal takes the entry out of its queue; work that has begun looks at it itself.
   */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Waits until nothing is at work and nothing waits. */
  drain(): Promise<void>;
}

interface Waiting {
  begin(): void;
}

export function createFairShare(options: FairShareOptions): FairShare {
  const { slotsMax, slotsPerKeyMax, waitingMax, waitingPerKeyMax, waitMsMax, refusal } = options;
  const held = new Map<string, number>();
  // The key whose turn is next comes first. A queue is never empty.
  const queues = new Map<string, Set<Waiting>>();
  let used = 0;
  let waiting = 0;
  const drained: (() => void)[] = [];

  const hasRoom = (key: string): boolean => used < slotsMax && (held.get(key) ?? 0) < slotsPerKeyMax;

  function take(key: string): void {
    used++;
    held.set(key, (held.get(key) ?? 0) + 1);
  }

  function give(key: string): void {
    used--;
    const left = (held.get(key) ?? 0) - 1;
    if (left > 0) held.set(key, left);
    else held.delete(key);
    for (const [next, queue] of queues) {
      if (used >= slotsMax) break;
      if (!hasRoom(next)) continue;
      const [first] = queue;
      if (!first) throw new Error("a queue is empty");
      leave(next, first);
      // Its next entry has its turn after those of all other keys.
      if (queues.delete(next)) queues.set(next, queue);
      take(next);
      first.begin();
    }
    if (used === 0 && waiting === 0) for (const resolve of drained.splice(0)) resolve();
  }

  function leave(key: string, entry: Waiting): void {
    const queue = queues.get(key);
    if (!queue?.delete(entry)) return;
    waiting--;
    if (queue.size === 0) queues.delete(key);
  }

  function waitForTurn(key: string, signal: AbortSignal | undefined): Promise<void> {
    const queue = queues.get(key) ?? new Set<Waiting>();
    if (waiting >= waitingMax || queue.size >= waitingPerKeyMax) return Promise.reject(refusal());
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      };
      const entry: Waiting = {
        begin() {
          settle();
          resolve();
        },
      };
      const abandon = (error: Error): void => {
        settle();
        leave(key, entry);
        reject(error);
      };
      const abort = (): void => abandon(signal?.reason as Error);
      const timer = setTimeout(() => abandon(refusal()), waitMsMax);
      signal?.addEventListener("abort", abort, { once: true });
      queues.set(key, queue.add(entry));
      waiting++;
    });
  }

  return {
    async run(key, work, signal) {
      signal?.throwIfAborted();
      // Where there is room nobody waits who could use it, so this overtakes nobody.
      if (hasRoom(key)) take(key);
      else await waitForTurn(key, signal);
      try {
        return await work();
      } finally {
        give(key);
      }
    },
    async drain() {
      if (used > 0 || waiting > 0) await new Promise<void>((resolve) => drained.push(resolve));
    },
  };
}
