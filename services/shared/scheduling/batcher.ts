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
  /** Concurrent flushes of all keys. */
  flushesMax: number;
  /**
   * Whether a second flush of a key may begin beside the first: once half of the items wait that come at a time. What
   * waits on the database in one does then not keep the processor from the other.
   */
  overlaps?: boolean;
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

/** The items of a key that wait, and its flushes. */
interface Queue<Item, Result> {
  waiting: Waiting<Item, Result>[];
  flushes: number;
  /** Items that wait or are being flushed. */
  items: number;
  /** The most items of late. */
  crowd: number;
  /** Whether the key is among those that are ready. */
  isReady: boolean;
}

// Smaller ones would cost more than they gain.
const secondFlushItemsMin = 24;
const crowdDecay = 0.9;

/** Makes a batcher that runs one flush of a key at a time, or two if they may overlap. */
export function createBatcher<Item, Result, Key extends string = string>(
  options: BatcherOptions<Item, Result, Key>,
): Batcher<Item, Result, Key> {
  // A key is here from its first item until a flush finds its queue empty.
  const queues = new Map<Key, Queue<Item, Result>>();
  // Keys that may begin a flush, the longest waiting first.
  const ready: Key[] = [];
  let queued = 0;
  let flushes = 0;
  const drained: (() => void)[] = [];

  function takeBatch({ waiting }: Queue<Item, Result>): Waiting<Item, Result>[] {
    let size = 0;
    let count = 0;
    for (const { item } of waiting) {
      size += options.sizeOf(item);
      if (count === options.flushItemsMax || (count > 0 && size > options.flushSizeMax)) break;
      count++;
    }
    queued -= count;
    return waiting.splice(0, count);
  }

  async function flush(key: Key, batch: Waiting<Item, Result>[]): Promise<void> {
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

  /** How many items have to wait before a flush begins. */
  function itemsMinOf({ flushes: own, crowd }: Queue<Item, Result>): number {
    if (own === 0) return 1;
    return own === 1 && options.overlaps ? Math.max(secondFlushItemsMin, crowd / 2) : Number.POSITIVE_INFINITY;
  }

  function listIfReady(key: Key, queue: Queue<Item, Result>): void {
    if (queue.isReady || queue.waiting.length < itemsMinOf(queue)) return;
    queue.isReady = true;
    ready.push(key);
  }

  function startFlushes(): void {
    while (flushes < options.flushesMax) {
      const key = ready.shift();
      const queue = key === undefined ? undefined : queues.get(key);
      if (key === undefined || !queue) break;
      queue.isReady = false;
      flushes++;
      queue.flushes++;
      queue.crowd = Math.max(queue.items, queue.crowd * crowdDecay);
      const batch = takeBatch(queue);
      listIfReady(key, queue);
      void flush(key, batch).then(() => {
        flushes--;
        queue.flushes--;
        queue.items -= batch.length;
        listIfReady(key, queue);
        if (queue.flushes === 0 && queue.waiting.length === 0) queues.delete(key);
        startFlushes();
        if (queues.size === 0) for (const resolve of drained.splice(0)) resolve();
      });
    }
  }

  return {
    add(key, item) {
      const known = queues.get(key);
      if (queued >= options.queueItemsMax || (known?.waiting.length ?? 0) >= options.queueItemsMax / 2) {
        return Promise.reject(options.queueFull());
      }
      return new Promise((resolve, reject) => {
        const queue: Queue<Item, Result> = known ?? { waiting: [], flushes: 0, items: 0, crowd: 0, isReady: false };
        if (!known) queues.set(key, queue);
        queued++;
        queue.items++;
        queue.waiting.push({ item, resolve, reject, context: currentContext() });
        listIfReady(key, queue);
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
