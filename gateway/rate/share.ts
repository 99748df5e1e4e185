/**
 * What a gateway holds of a key's windows: how many requests it may still admit by itself, and how many it should ask for. Rules only; the
 * asking is done by shares.ts.
 */

/** What is known of one window. */
export interface Pool {
  /** Which window, counted from 1970. */
  number: number;
  /** Whether identity has answered for it. */
  isKnown: boolean;
  limit: number;
  /** Requests that nobody had leased, as of the last answer. */
  left: number;
  /** Requests leased and not made yet. */
  unspent: number;
}

/** What was granted of a window. */
export interface Grant {
  number: number;
  granted: number;
  left: number;
  limit: number;
}

/** The largest share that is asked for before it is known how fast it will be used. */
export const shareDefaultMax = 64;
// A share that lasts shorter is doubled, and one that lasts longer is halved.
const lastsMsMin = 500;
const lastsMsMax = 4_000;
const idleTicksMax = 5;

/** The smallest share that is asked for: a hundredth of the limit, so that what gateways with few requests hold stays little. */
function smallestShare(limit: number): number {
  return Math.min(shareDefaultMax, Math.ceil(limit / 100));
}

/** What a gateway holds of one of a key's two windows, now and for the minute to come. */
export class Share {
  current: Pool;
  next: Pool | undefined;
  /** How many requests to ask for. */
  #size: number;
  #grantedAtMs = Number.NEGATIVE_INFINITY;
  #usedInTick = 0;
  #idleTicks = 0;

  constructor(number: number, limit: number) {
    this.current = newPool(number, limit);
    this.#size = smallestShare(limit);
  }

  /** Goes to the window that is now. What is left of the one before is worth nothing any more. */
  moveTo(number: number): void {
    const { current, next } = this;
    if (current.number === number) return;
    this.current = next?.number === number ? next : newPool(number, current.limit);
    // A clock that was set back a little comes by here again.
    this.next = current.number > number ? current : undefined;
  }

  /** Makes a request, if there is one to make. */
  spend(): boolean {
    if (this.current.unspent === 0) return false;
    this.current.unspent--;
    this.#usedInTick++;
    return true;
  }

  /** Whether it is time to ask for more, so that nobody has to wait for it. */
  get isLow(): boolean {
    const { left, unspent } = this.current;
    return left > 0 && unspent <= this.#size / 2;
  }

  /** Whether all of the window is used up, as far as is known. */
  get isExhausted(): boolean {
    const { isKnown, left, unspent } = this.current;
    return isKnown && left === 0 && unspent === 0;
  }

  /** Whether nothing is known of a window, this or the next. */
  lacks(number: number): boolean {
    return !(this.current.number === number ? this.current.isKnown : this.next?.number === number);
  }

  /** How many requests to ask for now, when so many wait. */
  wanted(waiting: number, nowMs: number): number {
    const lastedMs = nowMs - this.#grantedAtMs;
    if (lastedMs < lastsMsMin) this.#resize(this.#size * 2);
    else if (lastedMs > lastsMsMax) this.#resize(this.#size / 2);
    return Math.min(this.current.limit, Math.max(this.#size, waiting));
  }

  /** Takes what was granted; of a window that is over nothing can be used. */
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
   * Looks back on the time since the last tick, and lets go of what will hardly be needed: what is beyond twice the use of that time and a
   * smallest share; that too once the key has been idle for a while, or when the window ends soon and much of it is gone.
   * @returns how many requests to give back.
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
    // So that what remains of the window stays true: others may have it now.
    current.left += unused;
    return unused;
  }

  /** Whether the key has made no request for some ticks. */
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
