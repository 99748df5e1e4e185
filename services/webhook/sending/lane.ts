/** A lane: what one endpoint is sent by this process, and how it takes it. */
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { AttemptWindow } from "../domain/breaker.ts";
import type { AttemptResult } from "../egress/attempt.ts";
import type { EndpointState } from "./targets.ts";

/** A delivery that this process has. */
export interface Item {
  property: Uuid;
  id: Uuid;
  messageId: Uuid;
  body: string;
  /** Those before. */
  attempts: number;
  leaseUntil: Micros;
}

/** A delivery that was just stored, with the body to send. */
export interface OfferedDelivery {
  property: Uuid;
  endpoint: Uuid;
  id: Uuid;
  messageId: Uuid;
  body: string;
  /** As `firstDueAt` of the lanes said before it was stored. */
  dueAt: Micros;
}

/** An attempt that takes longer shows an endpoint that could keep others waiting. */
export const slowMs = 1_000;

const healthyLimitMin = 4;
const healthyLimitMax = 32;
const suspectLimitMax = 2;
// Of an endpoint that is slow, and takes what it is sent.
const slowLimitMax = 8;
const streakOfSuspect = 3;
const pageRowsMax = 100;
const pagesOfLimit = 8;
const rateSeconds = 5;
export const queueRowsMax = 256;

export class Lane {
  readonly property: Uuid;
  readonly id: Uuid;
  /** Undefined until it was read. */
  state: EndpointState | undefined;
  /** How often it was changed, as far as this process was told, and which of these changes the state has. */
  changes = 0;
  changesRead = 0;
  readonly queue: Item[] = [];
  /** How often messages of its property were emptied when the first of the queue was read. */
  emptiedCount: number | undefined;
  inFlight = 0;
  /** There may be deliveries in the database that are due. */
  hasDue = false;
  isClaiming = false;
  /** This process may send one message to see whether the endpoint takes it. */
  isProbing = false;
  /** Concurrent attempts. */
  limit = suspectLimitMax;
  /** Not known to be quick: it has slots of the suspect ones. */
  isSuspect = true;
  /** Failures in a row. */
  streak = 0;
  readonly window = new AttemptWindow();
  usedAtMs = performance.now();
  /** What it may still send in a second, if it has a rate limit, and when the next. */
  tokens = { second: 0, left: 0, isAsking: false, nextMs: 0 };
  /** What is to be noted of it, in order. */
  notes = { isNoting: false, hasSuccess: false, failures: 0, wasProbe: false, successNotedAt: 0 };

  constructor(property: Uuid, id: Uuid) {
    this.property = property;
    this.id = id;
  }

  /** Takes the outcome of an attempt into account. */
  note(result: AttemptResult, now: Micros): void {
    const isFailed = result.error !== null;
    this.window.note(now, isFailed);
    this.streak = isFailed ? this.streak + 1 : 0;
    if (isFailed) {
      this.limit = Math.max(suspectLimitMax, Math.floor(this.limit / 2));
      if (this.streak >= streakOfSuspect) this.suspect();
    } else if (result.durationMs >= slowMs) {
      this.suspect();
      this.limit = Math.min(slowLimitMax, this.limit + 1);
    } else if (this.isSuspect) {
      this.isSuspect = false;
      this.limit = healthyLimitMin;
    } else this.limit = Math.min(healthyLimitMax, this.limit + 1);
  }

  /** Moves it to the slots of the suspect ones. */
  suspect(): void {
    this.limit = this.isSuspect ? this.limit : suspectLimitMax;
    this.isSuspect = true;
  }

  /** How many deliveries it should have at hand: no more than it can send before their lease ends. */
  get pageRows(): number {
    if (this.isProbing) return 1;
    if (this.isSuspect) return this.limit;
    const rows = Math.min(pageRowsMax, this.limit * pagesOfLimit);
    const rate = this.state?.ratePerSecond ?? null;
    return rate === null ? rows : Math.min(rows, rate * rateSeconds);
  }

  /** How many it may have in memory. */
  get queueRows(): number {
    const rate = this.state?.ratePerSecond ?? null;
    return rate === null ? queueRowsMax : Math.min(queueRowsMax, rate * rateSeconds);
  }

  /** It can be sent to, and its state is what it is now. */
  get isSendable(): boolean {
    return this.changes === this.changesRead && this.state?.isEnabled === true && this.state.target !== undefined;
  }

  /** Its breaker is open, and this process does not try it. */
  get isPaused(): boolean {
    return (this.state?.pausedUntil ?? null) !== null && !this.isProbing;
  }

  /** The breaker's time is over, so that somebody may try. */
  isHalfOpen(now: Micros): boolean {
    const until = this.state?.pausedUntil ?? null;
    return until !== null && until <= now && !this.isProbing;
  }

  get isIdle(): boolean {
    return this.queue.length === 0 && this.inFlight === 0 && !this.hasDue && !this.isClaiming && !this.notes.isNoting;
  }
}
