/**
 * Batching without a timer: items that arrive during a flush of their key form its next batch. A quiet service adds no
 * delay, and a busy one makes larger batches.
 */
import { currentContext, forAll, isTracing, type Context } from "../tracing/spans.ts";

export interface BatcherOptions<Item, Result, Key extends string = string> {
  /** Handles a batch of one key. @returns a result for each item, in order. When it throws, all items fail. */
  flush(key: Key, items: Item[]): Promise<Result[]>;
  /** The size of an item, in the unit of `flushSizeMax`. */
  sizeOf(item: Item): number;
  flushItemsMax: number;
  /** The sum of sizes in one flush. A larger item is flushed alone. */
  flushSizeMax: number;
  /** Concurrent flushes, each of another key. */
  flushesMax: number;
  /** Waiting items of all keys. One key may have half of them, so that others still fit. */
  queueItemsMax: number;
  /** Makes the error of an item that the full queue refuses. */
  queueFull(): Error;
}

export interface Batcher<Item, Result, Key extends string = string> {
  /** Adds an item. @returns its result. @throws `queueFull`, or the error of the flush. */
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
  /** The trace of who added the item. */
  context: Context | undefined;
}

/** Makes a batcher that runs at most one flush of a key at a time. */
export function createBatcher<Item, Result, Key extends string = string>(
  options: BatcherOptions<Item, Result, Key>,
): Batcher<Item, Result, Key> {
  // A key is here from its first item until a flush finds its queue empty.
  const queues = new Map<Key, Waiting<Item, Result>[]>();
  // Keys with items and no running flush, the longest waiting first.
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
      const items = batch.map(({ item }) => item);
      const results = isTracing()
        ? await forAll(
            batch.map(({ context }) => context),
            "batch",
            undefined,
            () => options.flush(key, items),
          )
        : await options.flush(key, items);
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
        const waiting = { item, resolve, reject, context: currentContext() };
        if (queue) {
          queue.push(waiting);
          return;
        }
        queues.set(key, [waiting]);
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
