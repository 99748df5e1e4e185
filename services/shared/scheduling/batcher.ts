/**
 * Batching without a timer. While a flush of a key is under way its next items gather; when it returns they go together. An
 * item that finds nothing under way goes at once. So a quiet service adds no wait, and a busy one makes larger batches.
 */

/** Limits and work of a batcher. */
export interface BatcherOptions<Item, Result, Key extends string = string> {
  /** Handles a batch of one key and answers every item, in order. When it throws, every item of the batch fails so. */
  flush(key: Key, items: Item[]): Promise<Result[]>;
  /** The size of an item, in the unit of `flushSizeMax`. */
  sizeOf(item: Item): number;
  /** Items in one flush. */
  flushItemsMax: number;
  /** Sum of sizes in one flush; a single larger item goes alone. */
  flushSizeMax: number;
  /** Flushes under way at once, each of another key. */
  flushesMax: number;
  /** Items waiting, over all keys. A key may have half of them: then there is room for the items of others. */
  queueItemsMax: number;
  /** The error for an item that finds the queue full. */
  queueFull(): Error;
}

/** See createBatcher. */
export interface Batcher<Item, Result, Key extends string = string> {
  /** Adds an item; settles with what the flush answered for it. */
  add(key: Key, item: Item): Promise<Result>;
  /** Items that wait for a flush. */
  readonly queued: number;
  /** Waits until everything that was added is settled. */
  drain(): Promise<void>;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Makes a batcher: at most one flush of a key at a time. */
export function createBatcher<Item, Result, Key extends string = string>(
  options: BatcherOptions<Item, Result, Key>,
): Batcher<Item, Result, Key> {
  // A key stands here from its first item until a flush returns to an empty queue.
  const queues = new Map<Key, Waiting<Item, Result>[]>();
  // Keys with items and no flush under way, the longest waiting first.
  const ready: Key[] = [];
  let queued = 0;
  let flushes = 0;
  const drained: (() => void)[] = [];

  function takeBatch(queue: Waiting<Item, Result>[]): Waiting<Item, Result>[] {
    let size = 0;
    let count = 0;
    for (const { item } of queue) {
      size += options.sizeOf(item);
      if (count === options.flushItemsMax || (count > 0 && size > options.flushSizeMax)) break;
      count++;
    }
    queued -= count;
    return queue.splice(0, count);
  }

  async function flush(key: Key): Promise<void> {
    const batch = takeBatch(queues.get(key) ?? []);
    try {
      const results = await options.flush(
        key,
        batch.map(({ item }) => item),
      );
      if (results.length !== batch.length) throw new Error(`${batch.length} items got ${results.length} answers`);
      for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as Result);
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    }
  }

  function startFlushes(): void {
    while (flushes < options.flushesMax) {
      const key = ready.shift();
      if (key === undefined) break;
      flushes++;
      void flush(key).then(() => {
        flushes--;
        if (queues.get(key)?.length) ready.push(key);
        else queues.delete(key);
        startFlushes();
        if (queues.size === 0) for (const resolve of drained.splice(0)) resolve();
      });
    }
  }

  return {
    add(key, item) {
      const queue = queues.get(key);
      if (queued >= options.queueItemsMax || (queue?.length ?? 0) >= options.queueItemsMax / 2) {
        return Promise.reject(options.queueFull());
      }
      return new Promise((resolve, reject) => {
        queued++;
        if (queue) {
          queue.push({ item, resolve, reject });
          return;
        }
        queues.set(key, [{ item, resolve, reject }]);
        ready.push(key);
        startFlushes();
      });
    },
    get queued() {
      return queued;
    },
    async drain() {
      if (queues.size > 0) await new Promise<void>((resolve) => drained.push(resolve));
    },
  };
}
