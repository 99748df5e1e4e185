import fc from "fast-check";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createFairShare, type FairShareOptions } from "./fair-share.ts";

const options: FairShareOptions = {
  slotsMax: 4,
  slotsPerKeyMax: 2,
  waitingMax: 1_000,
  waitingPerKeyMax: 1_000,
  waitMsMax: 60_000,
  refusal: () => new Error("over its share"),
};

test("never more at work than the limits say, and all of it is done", async () => {
  const keys = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 40 });
  const limits = fc.record({
    slotsMax: fc.integer({ min: 1, max: 5 }),
    slotsPerKeyMax: fc.integer({ min: 1, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(limits, keys, async (some, wanted) => {
      const share = createFairShare({ ...options, ...some });
      const atWork: string[] = [];
      const done = wanted.map((key, index) =>
        share.run(key, async () => {
          atWork.push(key);
          expect(atWork.length).toBeLessThanOrEqual(some.slotsMax);
          expect(atWork.filter((one) => one === key).length).toBeLessThanOrEqual(some.slotsPerKeyMax);
          await sleep(0);
          atWork.splice(atWork.indexOf(key), 1);
          if (index % 5 === 0) throw new Error("failed");
          return index;
        }),
      );
      const settled = await Promise.allSettled(done);
      expect(settled.filter(({ status }) => status === "fulfilled").length).toBe(
        wanted.filter((_, index) => index % 5 !== 0).length,
      );
      await share.drain();
    }),
    { numRuns: 50 },
  );
});

test("a key with hundreds waiting delays another by one turn", async () => {
  const share = createFairShare({ ...options, slotsMax: 1, slotsPerKeyMax: 1 });
  const order: string[] = [];
  const run = (key: string): Promise<void> =>
    share.run(key, async () => {
      order.push(key);
      await sleep(0);
    });
  const loud = Array.from({ length: 300 }, () => run("loud"));
  const quiet = [run("quiet"), run("quiet")];
  await Promise.all(quiet);
  expect(order.lastIndexOf("quiet")).toBeLessThanOrEqual(4);
  await Promise.all(loud);
  expect(order.length).toBe(302);
});

test("what finds its queue full is refused, and other keys are not", async () => {
  const share = createFairShare({ ...options, slotsPerKeyMax: 1, waitingPerKeyMax: 2 });
  const hold = Promise.withResolvers<void>();
  const loud = Array.from({ length: 4 }, () => share.run("loud", () => hold.promise));
  await expect(loud[3]).rejects.toThrow("over its share");
  expect(await share.run("quiet", () => Promise.resolve("done"))).toBe("done");
  hold.resolve();
  await Promise.all(loud.slice(0, 3));
});

test("what waits too long is refused, and what nobody waits for leaves the queue", async () => {
  const share = createFairShare({ ...options, slotsMax: 1, waitMsMax: 20 });
  const hold = Promise.withResolvers<void>();
  const held = share.run("a", () => hold.promise);
  const gone = new AbortController();
  let ran = 0;
  const left = share.run("a", () => Promise.resolve(ran++), gone.signal);
  gone.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  await expect(share.run("b", () => Promise.resolve(ran++))).rejects.toThrow("over its share");
  hold.resolve();
  await held;
  await share.drain();
  expect(ran).toBe(0);
  expect(await share.run("b", () => Promise.resolve("works on"))).toBe("works on");
});
