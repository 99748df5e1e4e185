/** Rate limits: two fixed windows of a minute for each key. */

/** Requests a minute. */
export interface RateLimits {
  ordinary: number;
  backfill: number;
}

/** Which window a request is taken from. */
export type RateWindow = keyof RateLimits;

/** What there is to say of a window, in headers and in a refusal. */
export interface Rate {
  limit: number;
  /** Requests left in the window, as far as is known here. */
  remaining: number;
  /** Whole seconds until the window ends. */
  resetSeconds: number;
  /** Whether the request is one too many. */
  isOver: boolean;
}

export const windowSeconds = 60;
