import { expect, test } from "vitest";
import { createSystemClock, systemClock, type MachineClocks } from "./clock.ts";

const millisecond = 1000;
const second = 1_000_000;

/** Clocks that the test moves, in microseconds. */
function movable(): MachineClocks & { wall: number; running: number; pass: (micros: number) => void } {
  const clocks = {
    wall: 1_800_000_000 * second + 123,
    running: 5 * second,
    pass(micros: number): void {
      clocks.wall += micros;
      clocks.running += micros;
    },
    wallMicros: () => clocks.wall,
    wallMs: () => Math.floor(clocks.wall / millisecond),
    runningMicros: () => clocks.running,
  };
  return clocks;
}

test("the machine's clock tells microseconds, and goes back in none of many looks", () => {
  const beginMs = Date.now();
  const looks = Array.from({ length: 500_000 }, () => systemClock.nowMicros());
  const endMs = Date.now();
  // The machine's clock may be set back while this runs. Such a step takes 1 ms or more.
  const back = looks.filter(
    (at, index) => index > 0 && at < (looks[index - 1] as number) && (looks[index - 1] as number) - at < 1_000,
  );
  expect(back).toEqual([]);
  expect(looks.every(Number.isSafeInteger)).toBe(true);
  expect(new Set(looks.map((at) => at % 1000)).size).toBeGreaterThan(100);
  expect(looks[0]).toBeGreaterThan((beginMs - 1) * millisecond);
  expect(looks.at(-1)).toBeLessThan((endMs + 2) * millisecond);
});

test("a reading is exact to the microsecond while the clocks run alike", () => {
  const clocks = movable();
  const clock = createSystemClock(clocks);
  for (let step = 0; step < 5000; step++) {
    clocks.pass(7);
    expect(clock.nowMicros()).toBe(clocks.wall);
  }
});

test.each([
  ["set forward by an hour", 3600 * second],
  ["set back by an hour", -3600 * second],
  ["set back by a millisecond", -millisecond],
])("a clock that is %s is followed at once", (_name, by) => {
  const clocks = movable();
  const clock = createSystemClock(clocks);
  clock.nowMicros();
  clocks.wall += by;
  expect(clock.nowMicros()).toBe(clocks.wall);
  clocks.pass(second);
  expect(clock.nowMicros()).toBe(clocks.wall);
});

test.each([
  ["slower", 0.999],
  ["faster", 1.001],
])("a clock that runs %s than the other is followed to less than a millisecond, without going back", (_name, rate) => {
  const clocks = movable();
  const clock = createSystemClock(clocks);
  let last = 0;
  for (let step = 0; step < 10_000; step++) {
    clocks.running += 100;
    clocks.wall += 100 * rate;
    const now = clock.nowMicros();
    expect(Math.abs(now - clocks.wall)).toBeLessThan(millisecond);
    expect(now).toBeGreaterThanOrEqual(last);
    last = now;
  }
});
