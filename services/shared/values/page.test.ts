import fc from "fast-check";
import { expect, test } from "vitest";
import { pageBytesMax, readPage, stepRowsMax } from "./page.ts";

const rowBytes = fc.oneof(
  fc.constant(0),
  fc.nat(1_000),
  fc.nat(300_000),
  fc.integer({ min: 1, max: 2 * pageBytesMax }),
);

test("pages visit each row once, in order, and hold no more than they may", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(rowBytes, { maxLength: 600 }),
      fc.integer({ min: 1, max: 1000 }),
      async (sizes, limit) => {
        const list = sizes.map((size, index) => ({ size, index }));
        const visited: number[] = [];
        let after: number | undefined;
        for (let hasMore = true; hasMore;) {
          let most = 0;
          const page = await readPage(limit, after, {
            read: (place, count) => {
              most = Math.max(most, count);
              return Promise.resolve(list.slice((place ?? -1) + 1, (place ?? -1) + 1 + count));
            },
            placeOf: ({ index }) => index,
            sizeOf: ({ size }) => size,
          });
          expect(page.rows.length).toBeLessThanOrEqual(limit);
          expect(most).toBeLessThanOrEqual(Math.min(limit, stepRowsMax) + 1);
          const bytes = page.rows.slice(0, -1).reduce((sum, { size }) => sum + size, 0);
          expect(bytes).toBeLessThan(pageBytesMax);
          visited.push(...page.rows.map(({ index }) => index));
          ({ hasMore } = page);
          expect(hasMore).toBe(visited.length < list.length);
          if (hasMore) expect(page.rows.length).toBeGreaterThan(0);
          after = page.rows.at(-1)?.index;
        }
        expect(visited).toEqual(list.map(({ index }) => index));
      },
    ),
  );
});
