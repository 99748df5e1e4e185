/** A gateway's share of a caller's windows, and how many requests it should lease next. shares.ts leases them. */

/** One window. */
export interface Pool {
  /** Minutes since 1970. */
  number: number;
  /** Whether identity has answered for this window. */
  isKnown: boolean;
  limit: number;
  /** Requests that no gateway had leased, as of the last answer. */
  left: number;
  /** Requests leased and not yet admitted. */
  unspent: number;
}

/** A lease of a window. */
export interface Grant {
  number: number;
  granted: number;
  left: number;
  limit: number;
}

/** The largest share that is requested before the rate of use is known. */
export const shareDefaultMax = 64;
// A share that lasts shorter than the minimum is doubled; one that lasts longer than the maximum is halved.
const lastsMsMin = 500;
const lastsMsMax = 4_000;
const idleTicksMax = 5;

/** The smallest share to lease: 1 % of the limit, at most shareDefaultMax, so that idle gateways hold little. */
function smallestShare(limit: number): number {
  return Math.min(shareDefaultMax, Math.ceil(limit / 100));
}

/** The share of one of a caller's two windows: the current minute and the next. */
export class Share {
  current: Pool;
  next: Pool | undefined;
  /** Requests to lease at a time. */
  #size: number;
  #grantedAtMs = Number.NEGATIVE_INFINITY;
  #usedInTick = 0;
  #idleTicks = 0;

  constructor(number: number, limit: number) {
    this.current = newPool(number, limit);
    this.#size = smallestShare(limit);
  }

  /** Moves to the current window. Unspent requests of an earlier window expire. */
  moveTo(number: number): void {
    const { current, next } = this;
    if (current.number === number) return;
    this.current = next?.number === number ? next : newPool(number, current.limit);
    // The clock may be corrected backwards and then reach this window again.
    this.next = current.number > number ? current : undefined;
  }

  /** Admits one request if any is left. @returns whether it did. */
  spend(): boolean {
    if (this.current.unspent === 0) return false;
    this.current.unspent--;
    this.#usedInTick++;
    return true;
  }

  /** Whether to lease more now, so that no request has to wait. */
  get isLow(): boolean {
    const { left, unspent } = this.current;
    return left > 0 && unspent <= this.#size / 2;
  }

  /** Whether the window is used up, as far as this gateway knows. */
  get isExhausted(): boolean {
    const { isKnown, left, unspent } = this.current;
    return isKnown && left === 0 && unspent === 0;
  }

  /** Whether a window, the current or the next, still has to be leased. */
  lacks(number: number): boolean {
    return !(this.current.number === number ? this.current.isKnown : this.next?.number === number);
  }

  /** The number of requests to lease now. @param waiting requests that wait for the lease. */
  wanted(waiting: number, nowMs: number): number {
    const lastedMs = nowMs - this.#grantedAtMs;
    if (lastedMs < lastsMsMin) this.#resize(this.#size * 2);
    else if (lastedMs > lastsMsMax) this.#resize(this.#size / 2);
    return Math.min(this.current.limit, Math.max(this.#size, waiting));
  }

  /** Adds a lease; one of a past window is dropped. */
  add({ number, granted, left, limit }: Grant, nowMs: number): void {
    if (number > this.current.number && this.next?.number !== number) this.next = newPool(number, limit);
    const pool = [this.current, this.next].find((known) => known?.number === number);
    if (!pool) return;
    pool.isKnown = true;
    pool.limit = limit;
    pool.left = left;
    pool.unspent += granted;
    if (granted > 0) this.#grantedAtMs = nowMs;
  }

  /**
   * Keeps twice the use since the last tick, or the smallest share if that is more, and releases the excess. The
   * smallest share is released too once the caller is idle, or near the end of a window of which more than half is
   * leased.
   * @returns the number of requests to return to identity.
   */
  tick(isEnding: boolean): number {
    const { current } = this;
    const used = this.#usedInTick;
    this.#usedInTick = 0;
    this.#idleTicks = used > 0 ? 0 : this.#idleTicks + 1;
    const isScarce = isEnding && current.left < current.limit / 2;
    const reserve = this.isIdle || isScarce ? 0 : smallestShare(current.limit);
    const kept = Math.max(2 * used, reserve);
    const unused = current.unspent - kept;
    if (unused <= 0) return 0;
    this.#resize(kept);
    current.unspent = kept;
    // Other gateways may lease the returned requests now.
    current.left += unused;
    return unused;
  }

  get isIdle(): boolean {
    return this.#idleTicks >= idleTicksMax;
  }

  #resize(size: number): void {
    const { limit } = this.current;
    this.#size = Math.min(limit, Math.max(smallestShare(limit), Math.floor(size)));
  }
}

function newPool(number: number, limit: number): Pool {
  return { number, isKnown: false, limit, left: limit, unspent: 0 };
}
