/** Rate windows: their limits, their starts, and which of them can be leased. */
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";

const windowMicros = 60 * 1_000_000;

/** Maximum of requests in a window or a share. */
export const requestsMax = 1_000_000_000;

/** @throws DaybookError `parameter_invalid` */
export function checkRateLimit(limit: number | undefined, param: string): void {
  if (limit === undefined || (limit >= 1 && limit <= requestsMax)) return;
  throw new DaybookError("parameter_invalid", `A rate limit is 1 to ${requestsMax} requests a minute.`, { param });
}

/**
 * Whether a window may be leased now: the current one, the next one ahead of time, and the previous one for late
 * requests. A gateway with a larger clock error gets no share, only the correct time.
 */
export function isLeasable(startsAt: Micros, now: Micros): boolean {
  return Math.abs(startsAt / windowMicros - Math.floor(now / windowMicros)) <= 1;
}

/** Whether an instant begins a window. */
export function isWindowStart(instant: Micros): boolean {
  return instant % windowMicros === 0;
}

/** When the window of an instant began. */
export function startOfWindow(instant: Micros): Micros {
  return Math.floor(instant / windowMicros) * windowMicros;
}

/** Windows that began before this may be deleted. */
export function windowsOverBefore(now: Micros): Micros {
  return now - 5 * windowMicros;
}
