/** Rate limits: two fixed windows of a minute for each key or installation. */

/** Requests a minute. */
export interface RateLimits {
  ordinary: number;
  backfill: number;
}

export type RateWindow = keyof RateLimits;

/** The state of a window, for headers and refusals. */
export interface Rate {
  limit: number;
  /** Requests left in the window, as far as this gateway knows. */
  remaining: number;
  /** Whole seconds until the window ends. */
  resetSeconds: number;
  /** Whether the request exceeds the limit. */
  isOver: boolean;
}

export const windowSeconds = 60;
