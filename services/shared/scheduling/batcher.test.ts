import fc from "fast-check";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createBatcher, type BatcherOptions } from "./batcher.ts";

function options(more: Partial<BatcherOptions<number, string>> = {}): BatcherOptions<number, string> {
  return {
    flush: (key, items) => Promise.resolve(items.map((item) => `${key}${item}`)),
    sizeOf: () => 1,
    flushItemsMax: 100,
    flushSizeMax: 100,
    flushesMax: 4,
    queueItemsMax: 1000,
    queueFull: () => new Error("full"),
    ...more,
  };
}

test("an item alone goes at once; those that come meanwhile go together", async () => {
  const batches: number[][] = [];
  const batcher = createBatcher(
    options({
      async flush(key, items) {
        batches.push(items);
        await sleep(5);
        return items.map((item) => `${key}${item}`);
      },
    }),
  );
  const results = await Promise.all([1, 2, 3, 4].map((item) => batcher.add("k", item)));
  expect(results).toEqual(["k1", "k2", "k3", "k4"]);
  expect(batches).toEqual([[1], [2, 3, 4]]);
});

test("flushes that overlap share what comes at a time between two, and a few items begin no second one", async () => {
  const batches: number[] = [];
  const ends: (() => void)[] = [];
  const batcher = createBatcher(
    options({
      overlaps: true,
      async flush(key, items) {
        batches.push(items.length);
        await new Promise<void>((resolve) => ends.push(resolve));
        return items.map((item) => `${key}${item}`);
      },
    }),
  );
  const results: Promise<string>[] = [];
  const add = (count: number): void => {
    for (let item = 0; item < count; item++) results.push(batcher.add("k", item));
  };
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await sleep(0);
  };
  add(1);
  add(23);
  expect(batches).toEqual([1]);
  add(1);
  // As many wait as are worth a flush of their own.
  expect(batches).toEqual([1, 24]);
  add(75);
  expect(batches).toEqual([1, 24]);
  await end();
  expect(batches).toEqual([1, 24, 75]);
  await end();
  // As many come at a time as were there at once, 100, so half of them are waited for.
  add(49);
  expect(batches).toEqual([1, 24, 75]);
  add(1);
  expect(batches).toEqual([1, 24, 75, 50]);
  while (ends.length > 0) await end();
  expect(await Promise.all(results)).toHaveLength(150);
});

test("every item is answered with its own result, within all limits", async () => {
  const limits = { flushItemsMax: fc.integer({ min: 1, max: 5 }), flushSizeMax: fc.integer({ min: 1, max: 20 }) };
  const items = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(10)), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(
      fc.record({ ...limits, flushesMax: fc.integer({ min: 1, max: 3 }), overlaps: fc.boolean() }),
      items,
      async (limit, added) => {
        const underWay: string[] = [];
        const batcher = createBatcher(
          options({
            ...limit,
            sizeOf: (item) => item,
            async flush(key, batch) {
              underWay.push(key);
              const ofKey = underWay.filter((other) => other === key).length;
              expect(ofKey).toBeLessThanOrEqual(limit.overlaps ? 2 : 1);
              expect(underWay.length).toBeLessThanOrEqual(limit.flushesMax);
              expect(batch.length).toBeLessThanOrEqual(limit.flushItemsMax);
              const size = batch.reduce((sum, item) => sum + item, 0);
              expect(batch.length === 1 || size <= limit.flushSizeMax).toBe(true);
              await sleep(0);
              underWay.splice(underWay.indexOf(key), 1);
              return batch.map((item) => `${key}${item}`);
            },
          }),
        );
        const results = await Promise.all(added.map(([key, item]) => batcher.add(key, item)));
        expect(results).toEqual(added.map(([key, item]) => `${key}${item}`));
        expect(batcher.queued).toBe(0);
        await batcher.drain();
      },
    ),
    { numRuns: 50 },
  );
});

test("a flush that fails fails its own items only", async () => {
  const batcher = createBatcher(
    options({
      flush: (key, items) => (key === "bad" ? Promise.reject(new Error("no")) : Promise.resolve(items.map(String))),
    }),
  );
  const [bad, good] = await Promise.allSettled([batcher.add("bad", 1), batcher.add("good", 2)]);
  expect([bad?.status, good?.status]).toEqual(["rejected", "fulfilled"]);
  expect(await batcher.add("good", 3)).toBe("3");
});

test("a full queue refuses, one key fills half of it, and it takes again when it has room", async () => {
  const held = Promise.withResolvers<void>();
  const batcher = createBatcher(
    options({
      queueItemsMax: 4,
      flushesMax: 1,
      async flush(key, items) {
        await held.promise;
        return items.map((item) => `${key}${item}`);
      },
    }),
  );
  const first = batcher.add("k", 0);
  const waiting = [batcher.add("k", 1), batcher.add("k", 2)];
  await expect(batcher.add("k", 3)).rejects.toThrow("full");
  waiting.push(batcher.add("other", 1), batcher.add("third", 1));
  await expect(batcher.add("fourth", 1)).rejects.toThrow("full");
  held.resolve();
  await Promise.all([first, ...waiting]);
  expect(await batcher.add("k", 4)).toBe("k4");
});
