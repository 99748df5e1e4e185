/**
 * Slots shared fairly between keys. Each key has its own queue, and the queues are served round-robin, so thousands of
 * waiting entries of one key delay another key by one entry.
 */

export interface FairShareOptions {
  /** Concurrent entries of all keys. */
  slotsMax: number;
  /** Concurrent entries of one key. */
  slotsPerKeyMax: number;
  /** Waiting entries of all keys. */
  waitingMax: number;
  /** Waiting entries of one key. */
  waitingPerKeyMax: number;
  waitMsMax: number;
  /** Makes the error of an entry that finds its queue full or waits too long. */
  refusal: () => Error;
}

export interface FairShare {
  /**
   * Runs work once its key gets a slot.
   * @param signal removes a waiting entry from its queue. Running work must watch the signal itself.
   * @throws the `refusal`, or the signal's reason.
   */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Waits until nothing runs and nothing waits. */
  drain(): Promise<void>;
}

interface Waiting {
  begin(): void;
}

export function createFairShare(options: FairShareOptions): FairShare {
  const { slotsMax, slotsPerKeyMax, waitingMax, waitingPerKeyMax, waitMsMax, refusal } = options;
  const held = new Map<string, number>();
  // Keys in the order in which they are served. A queue is never empty.
  const queues = new Map<string, Set<Waiting>>();
  let used = 0;
  let waiting = 0;
  const drained: (() => void)[] = [];

  const hasRoom = (key: string): boolean => used < slotsMax && (held.get(key) ?? 0) < slotsPerKeyMax;

  function occupy(key: string): void {
    used++;
    held.set(key, (held.get(key) ?? 0) + 1);
  }

  function release(key: string): void {
    used--;
    const left = (held.get(key) ?? 0) - 1;
    if (left > 0) held.set(key, left);
    else held.delete(key);
    for (const [next, queue] of queues) {
      if (used >= slotsMax) break;
      if (!hasRoom(next)) continue;
      const [first] = queue;
      if (!first) throw new Error("a queue is empty");
      removeEntry(next, first);
      // Moves the key behind all others.
      if (queues.delete(next)) queues.set(next, queue);
      occupy(next);
      first.begin();
    }
    if (used === 0 && waiting === 0) for (const resolve of drained.splice(0)) resolve();
  }

  function removeEntry(key: string, entry: Waiting): void {
    const queue = queues.get(key);
    if (!queue?.delete(entry)) return;
    waiting--;
    if (queue.size === 0) queues.delete(key);
  }

  function waitForSlot(key: string, signal: AbortSignal | undefined): Promise<void> {
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
        removeEntry(key, entry);
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
      // While a slot is free for this key, no waiting entry could use it, so nothing is overtaken.
      if (hasRoom(key)) occupy(key);
      else await waitForSlot(key, signal);
      try {
        return await work();
      } finally {
        release(key);
      }
    },
    async drain() {
      if (used > 0 || waiting > 0) await new Promise<void>((resolve) => drained.push(resolve));
    },
  };
}
