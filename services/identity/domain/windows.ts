/** Rate windows: which there are, when they begin, and which of them can be leased. */
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";

const windowMicros = 60 * 1_000_000;

/** Requests in one window, or in one share of it. */
export const requestsMax = 1_000_000_000;

/**
 * Checks a limit of a key.
 * @throws DaybookError `parameter_invalid`
 */
export function checkRateLimit(limit: number | undefined, param: string): void {
  if (limit === undefined || (limit >= 1 && limit <= requestsMax)) return;
  throw new DaybookError("parameter_invalid", `A rate limit is 1 to ${requestsMax} requests a minute.`, { param });
}

/**
 * Whether shares of a window may be leased now: of the one that is, of the next so that it can be leased ahead, and of the one before,
 * whose requests may be on their way still. So a gateway whose clock is wrong by more gets nothing, but the right time.
 */
export function isLeasable(startsAt: Micros, now: Micros): boolean {
  return Math.abs(startsAt / windowMicros - Math.floor(now / windowMicros)) <= 1;
}

/** Whether an instant begins a window. */
export function isWindowStart(instant: Micros): boolean {
  return instant % windowMicros === 0;
}

/** Before this instant began all windows that nobody asks for any more. */
export function windowsOverBefore(now: Micros): Micros {
  return now - 5 * windowMicros;
}
