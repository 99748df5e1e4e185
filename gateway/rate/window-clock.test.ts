import { expect, test } from "vitest";
import { createWindowClock } from "./window-clock.ts";

const second = 1_000_000;
const noon = 1_000_000 * 60 * second;

test("windows begin with the minutes", () => {
  let now = noon;
  const clock = createWindowClock({ nowMicros: () => now });
  expect(clock.now()).toEqual({ number: 1_000_000, resetSeconds: 60 });
  now += 59 * second + 1;
  expect(clock.now()).toEqual({ number: 1_000_000, resetSeconds: 1 });
  now += second;
  expect(clock.now()).toEqual({ number: 1_000_001, resetSeconds: 60 });
});

test("a clock that can be right is left alone, however long an answer takes", () => {
  let now = noon;
  const clock = createWindowClock({ nowMicros: () => now });
  const note = clock.ask();
  now += 20 * second;
  note(noon + 15 * second);
  expect(clock.now().resetSeconds).toBe(40);
});

test.each([
  ["behind", -600],
  ["ahead", 600],
])("a clock that is %s goes by that of the services", (_name, offSeconds) => {
  let now = noon + offSeconds * second;
  const clock = createWindowClock({ nowMicros: () => now });
  const note = clock.ask();
  now += second;
  note(noon + 10 * second);
  // Right to within the second that the answer took.
  expect(clock.now().number).toBe(1_000_000);
  expect([49, 50, 51]).toContain(clock.now().resetSeconds);
});

test("a clock that is set right again is believed again", () => {
  let now = noon - 600 * second;
  const clock = createWindowClock({ nowMicros: () => now });
  clock.ask()(noon);
  now = noon;
  clock.ask()(noon);
  expect(clock.now()).toEqual({ number: 1_000_000, resetSeconds: 60 });
});
