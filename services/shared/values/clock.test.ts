import { expect, test } from "vitest";
import { systemClock } from "./clock.ts";

test("the machine's clock tells microseconds, and goes back in none of many looks", () => {
  const looks = Array.from({ length: 500_000 }, () => systemClock.nowMicros());
  // The machine's clock may be set back while this runs. Such a step takes 1 ms or more.
  const back = looks.filter(
    (at, index) => index > 0 && at < (looks[index - 1] as number) && (looks[index - 1] as number) - at < 1_000,
  );
  expect(back).toEqual([]);
  expect(looks.every(Number.isSafeInteger)).toBe(true);
  expect(new Set(looks.map((at) => at % 1000)).size).toBeGreaterThan(100);
  expect(Math.abs((looks.at(-1) as number) / 1000 - Date.now())).toBeLessThan(1_000);
});
