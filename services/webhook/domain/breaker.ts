/** When sending to an endpoint pauses, and when it is given up. */
import type { Micros } from "#shared/values/clock.ts";

const streakMax = 10;
const windowSeconds = 5 * 60;
const windowAttemptsMin = 20;
const windowFailedShare = 0.7;
const sliceSeconds = 10;
const pauseSecondsMin = 30;
const pauseSecondsMax = 15 * 60;
const failingSecondsMin = 5 * 24 * 60 * 60;
const failingFailuresMin = 20;
const failingDaysMin = 2;

const toSeconds = (micros: Micros): number => Math.floor(micros / 1_000_000);

/** The attempts of the last 5 minutes, in slices of 10 s. */
export class AttemptWindow {
  #slices: { from: number; attempts: number; failed: number }[] = [];

  note(at: Micros, isFailed: boolean): void {
    const from = toSeconds(at) - (toSeconds(at) % sliceSeconds);
    let last = this.#slices.at(-1);
    if (!last || last.from < from) this.#slices.push((last = { from, attempts: 0, failed: 0 }));
    last.attempts++;
    if (isFailed) last.failed++;
    while ((this.#slices[0]?.from ?? from) <= from - windowSeconds) this.#slices.shift();
  }

  clear(): void {
    this.#slices = [];
  }

  /** @param streak failures since the last success, in all processes. */
  shouldOpen(streak: number): boolean {
    if (streak >= streakMax) return true;
    const attempts = this.#slices.reduce((sum, slice) => sum + slice.attempts, 0);
    const failed = this.#slices.reduce((sum, slice) => sum + slice.failed, 0);
    return attempts >= windowAttemptsMin && failed >= windowFailedShare * attempts;
  }
}

/** How long a breaker stays open, in seconds. @param before of the pause whose probe failed; null for the first. */
export function nextPauseSeconds(before: number | null): number {
  return before === null ? pauseSecondsMin : Math.min(2 * before, pauseSecondsMax);
}

/** Whether an endpoint has failed for so long that it is disabled. */
export function isGivenUp(
  {
    failures,
    failing_since: since,
    failing_days: days,
  }: { failures: number; failing_since: Micros; failing_days: number },
  now: Micros,
): boolean {
  return failures >= failingFailuresMin && days >= failingDaysMin && now - since >= failingSecondsMin * 1_000_000;
}
