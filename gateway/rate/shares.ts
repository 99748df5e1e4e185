/**
 * Rate limits of callers (keys and installations of apps) over all gateways, without a round trip for each request. A
 * gateway leases shares of a window from the identity service and admits requests from its share in memory. It leases
 * more before a share is used up; a share grows with the rate of use. Near the end of a window's limit shares get
 * small, so that little of the limit is left unused; unneeded requests are returned. A caller's first share comes with
 * its authentication, the next window's before it begins.
 *
 * Only leased requests are admitted, so all gateways together never exceed a limit. Requests of a caller wait for one
 * shared lease only while its share is used up and the window is not. If the lease fails they get 503, because nobody
 * knows whether the limit is reached. A share that is lost with its gateway or with an answer counts as used until the
 * next window.
 */
import type { Client } from "@connectrpc/connect";
import {
  RateWindow as WindowMessage,
  type IdentityService,
  type Lease,
} from "#proto/daybook/identity/v1/identity_pb.ts";
import { createBatcher } from "#shared/scheduling/batcher.ts";
import type { Clock } from "#shared/values/clock.ts";
import { DaybookError, serviceUnavailable } from "#shared/values/errors.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import type { Closable } from "#shared/process/lifecycle.ts";
import type { Log } from "#shared/process/log.ts";
import { repeat } from "#shared/scheduling/repeat.ts";
import { fromTimestamp, toTimestamp } from "#shared/values/time.ts";
import type { Rate, RateLimits, RateWindow } from "./limits.ts";
import { messageOfWindow, toGrant, toUnused, type Unused, type Wish } from "./lease-messages.ts";
import { Share, shareDefaultMax } from "./share.ts";
import { createWindowClock, startOfWindow, type WindowClock } from "./window-clock.ts";

export interface LimitedCaller {
  callerId: string;
  propertyId: string;
  limits: RateLimits;
}

export interface RateShares extends Closable {
  readonly clock: WindowClock;
  /** The shares to lease together with an authentication. The caller id is undefined while it is unknown. */
  wishes(callerId: string | undefined, windows: readonly RateWindow[]): Wish[];
  /** Adds the shares that came with the authentication. */
  learn(caller: LimitedCaller, leases: readonly Lease[]): void;
  /** Starts to lease the current windows of a caller unless they are known. */
  prepare(caller: LimitedCaller, windows: readonly RateWindow[]): void;
  /**
   * Takes a request from a window.
   * @throws DaybookError `service_unavailable` when no share could be leased
   */
  take(caller: LimitedCaller, window: RateWindow): Promise<Rate>;
  /** Reads a window without taking a request. */
  peek(caller: LimitedCaller, window: RateWindow): Rate;
}

interface Entry {
  caller: LimitedCaller;
  window: RateWindow;
  share: Share;
  /** Leases under way, by window number. */
  asking: Map<number, Promise<void>>;
  /** Requests that wait for a lease. */
  waiting: number;
  askedAtMs: number;
  failure: { error: DaybookError; untilMs: number } | undefined;
}

const entriesMax = 20_000;
const wishesMax = 500;
const wishesQueuedMax = 50_000;
// Equal to waitMsMax, because a lease that arrives after its requests gave up is lost.
const callTimeoutMs = 5_000;
const waitMsMax = callTimeoutMs;
// Other gateways may return requests, so a window that was used up is polled again.
const askAgainMs = 1_000;
const failureMs = 250;
const tickMs = 2_000;
// The next window is leased this early. Longer than a cached caller's maximum age (callerAgeMsMax), so that no known
// caller has to wait: either it leases ahead, or its authentication brings the share.
const aheadSeconds = 10;
const endingSeconds = 15;
const call = systemCall("gateway", callTimeoutMs);

/** @param limits of callers that have none of their own. */
export function createRateShares(options: {
  identity: Client<typeof IdentityService>;
  clock: Clock;
  limits: RateLimits;
  log: Log;
}): RateShares {
  const { identity, limits, log } = options;
  const clock = createWindowClock(options.clock);
  const entries = new Map<string, Entry>();

  /** @param number of the current window. */
  function entryOf(caller: LimitedCaller, window: RateWindow, number: number): Entry {
    const name = `${window} ${caller.callerId}`;
    let entry = entries.get(name);
    if (!entry) {
      if (entries.size >= entriesMax) makeRoom();
      const share = new Share(number, caller.limits[window]);
      entry = { caller, window, share, asking: new Map(), waiting: 0, askedAtMs: 0, failure: undefined };
      entries.set(name, entry);
    }
    entry.share.moveTo(number);
    return entry;
  }

  /** Evicts the caller that was added first and has no lease under way, and returns its requests. */
  function makeRoom(): void {
    for (const [name, entry] of entries) {
      if (entry.asking.size > 0) continue;
      entries.delete(name);
      void giveBack(release(entry));
      return;
    }
  }

  const wishOf = (window: RateWindow, number: number, wanted: number, limitUnknown = false): Wish => ({
    window: messageOfWindow[window],
    startsAt: toTimestamp(startOfWindow(number)),
    wanted,
    limitDefault: limits[window],
    limitUnknown,
  });

  const asks = createBatcher<{ entry: Entry; number: number }, Lease>({
    async flush(_key, items) {
      const noteTime = clock.ask();
      const wishes = items.map(({ entry: { caller, window, share, waiting }, number }) => ({
        propertyId: caller.propertyId,
        keyId: caller.callerId,
        wish: wishOf(window, number, share.wanted(waiting, performance.now())),
      }));
      const { leases, now } = await identity.leaseRequests({ wishes }, call);
      if (now) noteTime(fromTimestamp(now));
      return leases;
    },
    sizeOf: () => 1,
    flushItemsMax: wishesMax,
    flushSizeMax: wishesMax,
    flushesMax: 1,
    queueItemsMax: wishesQueuedMax,
    queueFull: () => serviceUnavailable(new Error("too many shares are asked for")),
  });

  /**
   * Leases a share; concurrent calls share one request. Never rejects: it stores a failure and does not retry for
   * failureMs.
   */
  function ask(entry: Entry, number: number): Promise<void> {
    const underWay = entry.asking.get(number);
    if (underWay) return underWay;
    const nowMs = performance.now();
    if (entry.failure && nowMs < entry.failure.untilMs) return Promise.resolve();
    entry.askedAtMs = nowMs;
    const asking = asks
      .add("", { entry, number })
      .then(
        (lease) => {
          entry.failure = undefined;
          entry.share.add(toGrant(lease), performance.now());
        },
        (error: unknown) => {
          log.debug({ err: error }, "a share of a rate window could not be leased");
          const ours = error instanceof DaybookError ? error : serviceUnavailable(error);
          entry.failure = { error: ours, untilMs: performance.now() + failureMs };
        },
      )
      .finally(() => entry.asking.delete(number));
    entry.asking.set(number, asking);
    return asking;
  }

  function askAhead(entry: Entry, number: number, resetSeconds: number): void {
    if (entry.share.isLow) void ask(entry, number);
    if (resetSeconds <= aheadSeconds && entry.share.lacks(number + 1)) void ask(entry, number + 1);
  }

  function rateOf({ share: { current } }: Entry, resetSeconds: number, isOver: boolean): Rate {
    return { limit: current.limit, remaining: current.left + current.unspent, resetSeconds, isOver };
  }

  async function take(caller: LimitedCaller, window: RateWindow): Promise<Rate> {
    const untilMs = performance.now() + waitMsMax;
    for (;;) {
      const { number, resetSeconds } = clock.now();
      const entry = entryOf(caller, window, number);
      if (entry.share.spend()) {
        askAhead(entry, number, resetSeconds);
        return rateOf(entry, resetSeconds, false);
      }
      const nowMs = performance.now();
      if (entry.share.isExhausted) {
        if (nowMs - entry.askedAtMs > askAgainMs) void ask(entry, number);
        if (resetSeconds <= aheadSeconds && entry.share.lacks(number + 1)) void ask(entry, number + 1);
        return rateOf(entry, resetSeconds, true);
      }
      if (entry.failure && nowMs < entry.failure.untilMs) throw entry.failure.error;
      if (nowMs > untilMs) throw serviceUnavailable(new Error("a share of a rate window did not come in time"));
      entry.waiting++;
      await ask(entry, number);
      entry.waiting--;
    }
  }

  /** Without retry, because a retry could return the same requests twice. */
  async function giveBack(unused: readonly Unused[]): Promise<void> {
    for (let at = 0; at < unused.length; at += wishesMax) {
      const chunk = unused.slice(at, at + wishesMax);
      await identity.returnRequests({ unused: chunk }, call).catch((error: unknown) => {
        log.warn(
          { err: error },
          "unused requests of rate windows could not be given back, and are lost until they end",
        );
      });
    }
  }

  async function tick(): Promise<void> {
    const { number, resetSeconds } = clock.now();
    const unused: Unused[] = [];
    for (const [name, entry] of entries) {
      const { share } = entry;
      share.moveTo(number);
      const count = share.tick(resetSeconds <= endingSeconds);
      if (count > 0) unused.push(toUnused(entry.caller, entry.window, number, count));
      const isEmpty = share.current.unspent === 0 && share.next === undefined && entry.asking.size === 0;
      if (share.isIdle && isEmpty) entries.delete(name);
    }
    await giveBack(unused);
  }

  const ticking = repeat(tickMs, log, "give unused requests back", tick);

  return {
    clock,
    wishes(callerId, windows) {
      const { number, resetSeconds } = clock.now();
      const numbers = resetSeconds <= aheadSeconds ? [number, number + 1] : [number];
      return windows.flatMap((window) => {
        const share = callerId === undefined ? undefined : entries.get(`${window} ${callerId}`)?.share;
        share?.moveTo(number);
        return numbers
          .filter((each) => share?.lacks(each) ?? true)
          .map((each) =>
            share
              ? wishOf(window, each, share.wanted(0, performance.now()))
              : wishOf(window, each, shareDefaultMax, true),
          );
      });
    },
    learn(caller, leases) {
      const { number } = clock.now();
      for (const lease of leases) {
        const window = lease.window === WindowMessage.BACKFILL ? "backfill" : "ordinary";
        entryOf(caller, window, number).share.add(toGrant(lease), performance.now());
      }
    },
    prepare(caller, windows) {
      const { number } = clock.now();
      for (const window of windows) {
        const entry = entryOf(caller, window, number);
        if (entry.share.lacks(number)) void ask(entry, number);
      }
    },
    take,
    peek(caller, window) {
      const { number, resetSeconds } = clock.now();
      return rateOf(entryOf(caller, window, number), resetSeconds, false);
    },
    async close() {
      await ticking.close();
      await asks.drain();
      await giveBack([...entries.values()].flatMap(release));
      entries.clear();
    },
  };
}

/** All unspent requests of an entry. */
function release(entry: Entry): Unused[] {
  const pools = [entry.share.current, entry.share.next];
  return pools.flatMap((pool) => {
    if (!pool || pool.unspent === 0) return [];
    const unused = toUnused(entry.caller, entry.window, pool.number, pool.unspent);
    pool.unspent = 0;
    return [unused];
  });
}
