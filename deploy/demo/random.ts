/** Draws that a seed repeats. */
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

const resolution = 2 ** 31;

export interface Draws {
  /** From 0 to below 1. */
  fraction(): number;
  /** A whole number from `min` to `max`. */
  integer(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** An index, by weights that need not sum to 1. */
  weighted(weights: readonly number[]): number;
}

export function createDraws(seed: number): Draws {
  const generator = xoroshiro128plus(seed);
  const integer = (min: number, max: number): number => uniformInt(generator, min, max);
  const fraction = (): number => integer(0, resolution - 1) / resolution;
  return {
    fraction,
    integer,
    chance: (probability) => fraction() < probability,
    pick: (items) => items[integer(0, items.length - 1)] as (typeof items)[number],
    weighted(weights) {
      let left = fraction() * weights.reduce((sum, weight) => sum + weight, 0);
      const index = weights.findIndex((weight) => (left -= weight) < 0);
      // Rounding may leave a little.
      return index === -1 ? weights.length - 1 : index;
    },
  };
}
