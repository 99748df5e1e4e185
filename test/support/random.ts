/**
 * Repeatable random draws. Each test has its own sequence, from the run's seed and the test's name. The run logs its
 * seed, and RANDOM_SEED=<seed> repeats it.
 */
import { hash } from "node:crypto";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { expect, inject } from "vitest";

let test: string | undefined;
let generator = xoroshiro128plus(0);

/** An integer from 0 to below `limit`. */
export function random(limit: number): number {
  const { currentTestName = "", testPath = "" } = expect.getState();
  const current = `${testPath} ${currentTestName}`;
  if (current !== test) {
    test = current;
    generator = xoroshiro128plus(seedOf(currentTestName));
  }
  return uniformInt(generator, 0, limit - 1);
}

/** A random item. */
export function pick<Item>(items: readonly Item[]): Item {
  return items[random(items.length)] as Item;
}

/** The items in random order. */
export function shuffled<Item>(items: readonly Item[]): Item[] {
  const remaining = [...items];
  return items.map(() => remaining.splice(random(remaining.length), 1)[0] as Item);
}

function seedOf(name: string): number {
  return Number.parseInt(hash("sha256", `${inject("randomSeed")} ${name}`, "hex").slice(0, 8), 16) | 0;
}
