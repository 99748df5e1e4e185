import { expect, test } from "vitest";
import { among } from "./among.ts";

const items = [1, 2, 3, 4, 5].map((number) => ({ number }));
const isEven = ({ number }: { number: number }): boolean => number % 2 === 0;
const numbers = (open: readonly { number: number }[]): number[] => open.map(({ number }) => number);

test("a stage gets what is chosen, and what it leaves open stays in its place", async () => {
  const given: number[] = [];
  const open = await among(items, isEven, async (chosen) => {
    given.push(...numbers(chosen));
    return chosen.filter(({ number }) => number === 4);
  });
  expect(given).toEqual([2, 4]);
  expect(numbers(open)).toEqual([1, 3, 4, 5]);
});

test("a stage that nothing is chosen for does not run", async () => {
  const open = await among(
    items,
    () => false,
    async () => {
      throw new Error("it ran");
    },
  );
  expect(open).toEqual(items);
});

test.each([
  ["every item would be chosen", true],
  ["no item would be chosen", false],
])("a stage after which %s loses none and brings none back", async (_name, later) => {
  let isLater = false;
  const open = await among(
    items,
    (item) => (isLater ? later : isEven(item)),
    async () => {
      isLater = true;
      return [];
    },
  );
  expect(numbers(open)).toEqual([1, 3, 5]);
});
