import { expect, test } from "vitest";
import { AttemptWindow, isGivenUp, nextPauseSeconds } from "./breaker.ts";

const micros = 1_000_000;
const day = 86_400 * micros;

/** Notes attempts, a second after each other. */
function windowOf(outcomes: string, from = 0): AttemptWindow {
  const window = new AttemptWindow();
  for (const [index, outcome] of [...outcomes].entries()) window.note(from + index * micros, outcome === "x");
  return window;
}

test.each([
  ["ten in a row", "x".repeat(10), 10, true],
  ["nine in a row", "x".repeat(9), 9, false],
  ["14 of 20", ".".repeat(6) + "x".repeat(14), 0, true],
  ["13 of 20", ".".repeat(7) + "x".repeat(13), 0, false],
  ["19 of 19", "x".repeat(19), 0, false],
])("a breaker and %s failures", (_name, outcomes, streak, opens) => {
  expect(windowOf(outcomes).shouldOpen(streak)).toBe(opens);
});

test("failures count for five minutes", () => {
  const window = windowOf("x".repeat(20));
  window.note(290 * micros, false);
  expect(window.shouldOpen(0)).toBe(true);
  window.note(330 * micros, false);
  expect(window.shouldOpen(0)).toBe(false);
});

test("a pause doubles up to fifteen minutes", () => {
  const pauses = [null, 30, 60, 120, 240, 480, 900].map((before) => nextPauseSeconds(before));
  expect(pauses).toEqual([30, 60, 120, 240, 480, 900, 900]);
});

test.each([
  [20, 2, 5, true],
  [19, 2, 5, false],
  [20, 1, 5, false],
  [20, 2, 4.99, false],
])("%d failures on %d days, for %d days", (failures, failingDays, days, givenUp) => {
  expect(isGivenUp({ failures, failing_days: failingDays, failing_since: 0 }, days * day)).toBe(givenUp);
});
