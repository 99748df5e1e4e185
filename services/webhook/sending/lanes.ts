/**
 * Lanes: one for each endpoint that is sent something. Deliveries come in from the fan-out as soon as they are
 * committed, and from the database a page at a time: what is due again, what others left, and what had no room. Each is
 * leased before it is sent, so no two processes send it at a time, and one that is killed leaves it to the rest.
 */
import type { Closable } from "#shared/process/lifecycle.ts";
import { repeat, type Repeated } from "#shared/scheduling/repeat.ts";
import type { Micros } from "#shared/values/clock.ts";
import { nilUuid, type Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { claimDue, findDue } from "../sql/deliveries.ts";
import { createHealth } from "./health.ts";
import { Lane, queueRowsMax, type Item, type OfferedDelivery } from "./lane.ts";
import { optionsOf, type LanesContext, type LanesOptions } from "./options.ts";
import { createRates } from "./rates.ts";
import { createRecorder } from "./recorder.ts";
import { Room } from "./room.ts";
import { createRuns } from "./runs.ts";
import { readStates, type EndpointState } from "./targets.ts";

export interface Lanes extends Closable {
  /**
   * The `due_at` of new deliveries of an endpoint: the end of a lease, if this process sends them as soon as they are
   * offered; now, if they have to wait in the database.
   */
  firstDueAt: (property: Uuid, endpoint: Uuid, count: number) => Micros;
  /** Takes deliveries that were committed. */
  offer: (deliveries: readonly OfferedDelivery[]) => void;
  /** Looks for deliveries of endpoints that became due. */
  wake(property: Uuid, endpoints: Iterable<Uuid>): void;
  /** Reads an endpoint anew that was changed, disabled or deleted, before anything else is sent to it. */
  refresh(endpoint: Uuid): void;
  start(): void;
}

const tickMs = 250;
const refreshMs = 1_000;
const refreshRowsMax = 500;
const idleMs = 30_000;
const claimsMax = 2;
const lookRowsMax = 500;

/** Makes the lanes of a process. */
export function createLanes(context: LanesContext, given: LanesOptions = {}): Lanes {
  const { database, clock, log, sender } = context;
  const options = optionsOf(given);
  const { leaseMs, lookIntervalMs, attemptTimeoutMs } = options;
  const lanes = new Map<Uuid, Lane>();
  const claimable = new Set<Lane>();
  const stale = new Set<Lane>();
  const room = new Room();
  let claims = 0;
  let isRefreshing = false;
  let refreshedMs = 0;
  let isClosed = false;
  let look: Repeated | undefined;
  let ticking: NodeJS.Timeout | undefined;

  const recorder = createRecorder(context, considerAll);
  // A probe is over by then, and noted.
  const probeMs = attemptTimeoutMs + 2 * refreshMs;
  const health = createHealth({ ...context, probeMs }, consider);
  const rates = createRates(context, consider);
  const onTaken = (item: Item): void => room.release(item);
  const runs = createRuns({ ...context, recorder, health, rates, onDone: consider, onTaken }, options);

  function laneOf(property: Uuid, endpoint: Uuid): Lane {
    let lane = lanes.get(endpoint);
    if (!lane) {
      lanes.set(endpoint, (lane = new Lane(property, endpoint)));
      stale.add(lane);
      void refreshStale();
    }
    lane.usedAtMs = performance.now();
    return lane;
  }

  /** Has a lane go on, if it can. */
  function consider(lane: Lane): void {
    if (isClosed || !lane.state || lane.changes !== lane.changesRead) return;
    if (!lane.isSendable || lane.isPaused) giveBackQueue(lane);
    if (!lane.isSendable) lane.hasDue = false;
    if (lane.isHalfOpen(clock.nowMicros()) && lane.hasDue && !lane.isClaiming && lane.inFlight === 0) void probe(lane);
    if (lane.isPaused) return;
    if (lane.hasDue && !lane.isClaiming && lane.queue.length <= lane.pageRows / 2) {
      claimable.add(lane);
      claimNext();
    }
    runs.ready(lane);
  }

  function considerAll(): void {
    for (const lane of lanes.values()) if (lane.hasDue || lane.queue.length > 0) consider(lane);
  }

  async function probe(lane: Lane): Promise<void> {
    lane.isClaiming = true;
    try {
      await health.probe(lane);
    } catch (error) {
      log.warn({ err: error }, "a breaker cannot be half-opened");
    } finally {
      lane.isClaiming = false;
    }
    if (lane.isProbing) consider(lane);
  }

  function giveBackQueue(lane: Lane): void {
    const items = lane.queue.splice(0);
    for (const item of items) onTaken(item);
    if (items.length === 0) return;
    lane.hasDue = true;
    const now = clock.nowMicros();
    // A lease that has ended may be another's by now.
    const own = items.filter(({ leaseUntil }) => leaseUntil > now + attemptTimeoutMs * 1000);
    recorder.giveBack(
      lane.property,
      own.map(({ id }) => id),
    );
  }

  function claimNext(): void {
    for (const lane of claimable) {
      if (claims >= claimsMax || isClosed) return;
      // It is considered again as long as something is due.
      claimable.delete(lane);
      if (!room.has(lane.property)) continue;
      if (lane.isClaiming || lane.isPaused || !lane.isSendable) continue;
      claims++;
      lane.isClaiming = true;
      void claim(lane).then(() => {
        claims--;
        lane.isClaiming = false;
        consider(lane);
        claimNext();
      });
    }
  }

  async function claim(lane: Lane): Promise<void> {
    const rows = lane.pageRows;
    const now = clock.nowMicros();
    const leaseUntil = now + leaseMs * 1000;
    lane.hasDue = false;
    try {
      const values = [lane.property, lane.id, formatMicros(now), formatMicros(leaseUntil), rows] as const;
      const claimed = await claimDue(database, [...values]);
      if (claimed.length === rows) lane.hasDue = true;
      for (const { id, message_id: messageId, attempts, body } of claimed) {
        if (body === null) recorder.cancel(lane.property, [id]);
        else push(lane, { property: lane.property, id, messageId, attempts, body, leaseUntil });
      }
      // Nothing is there to try with. Whoever finds something half-opens the breaker again.
      if (lane.queue.length === 0) lane.isProbing = false;
    } catch (error) {
      log.warn({ err: error }, "webhooks that are due cannot be read");
      lane.isProbing = false;
    }
  }

  function push(lane: Lane, item: Item): void {
    room.take(item);
    lane.queue.push(item);
  }

  /** Reads lanes anew that are marked. */
  async function refreshStale(): Promise<void> {
    if (isRefreshing || isClosed) return;
    isRefreshing = true;
    // What is offered in the same turn shares the read.
    await Promise.resolve();
    try {
      while (stale.size > 0) await refreshSome([...stale].slice(0, refreshRowsMax));
    } catch (error) {
      log.warn({ err: error }, "endpoints cannot be read");
    } finally {
      isRefreshing = false;
    }
  }

  async function refreshSome(some: readonly Lane[]): Promise<void> {
    // One that is marked again meanwhile is read again.
    for (const lane of some) stale.delete(lane);
    const changes = some.map((lane) => lane.changes);
    let states: Awaited<ReturnType<typeof readStates>>;
    try {
      states = await readStates(context, some);
    } catch (error) {
      for (const lane of some) stale.add(lane);
      throw error;
    }
    for (const [index, lane] of some.entries()) {
      const state = states.get(lane.id);
      lane.changesRead = changes[index] ?? 0;
      if (state?.target?.url !== lane.state?.target?.url) sender.forget(lane.id);
      if (!state) {
        for (const item of lane.queue.splice(0)) onTaken(item);
        lanes.delete(lane.id);
        lane.state = undefined;
        continue;
      }
      // What this process has just written is newer than what was read.
      if (lane.state && lane.notes.isNoting) state.pausedUntil = lane.state.pausedUntil;
      lane.state = state;
      dropEmptied(lane, state);
      consider(lane);
    }
  }

  /** Has a lane read anew what it has to send, once messages of its property were emptied. */
  function dropEmptied(lane: Lane, { emptiedCount }: EndpointState): void {
    if (lane.emptiedCount === emptiedCount) return;
    if (lane.emptiedCount !== undefined) giveBackQueue(lane);
    // What is being claimed may have been read before.
    if (!lane.isClaiming) lane.emptiedCount = emptiedCount;
  }

  function tick(): void {
    runs.watch();
    const nowMs = performance.now();
    if (nowMs - refreshedMs >= refreshMs) {
      refreshedMs = nowMs;
      for (const lane of lanes.values()) {
        if (lane.isIdle && nowMs - lane.usedAtMs > idleMs) lanes.delete(lane.id);
        else if (!lane.isIdle || nowMs - lane.usedAtMs < refreshMs) stale.add(lane);
      }
    }
    if (stale.size > 0) void refreshStale();
    considerAll();
  }

  async function findWork(signal: AbortSignal): Promise<void> {
    for (let after = { property_id: nilUuid, id: nilUuid }; !signal.aborted;) {
      const now = formatMicros(clock.nowMicros());
      const rows = await findDue(database, [after.property_id, after.id, now, lookRowsMax]);
      for (const { property_id: property, id } of rows) wakeLane(property, id);
      const last = rows.at(-1);
      if (!last || rows.length < lookRowsMax) return;
      after = last;
    }
  }

  function wakeLane(property: Uuid, endpoint: Uuid): void {
    const lane = laneOf(property, endpoint);
    lane.hasDue = true;
    consider(lane);
  }

  return {
    firstDueAt(property, endpoint, count) {
      const now = clock.nowMicros();
      const lane = lanes.get(endpoint);
      const waiting = lane?.queue.length ?? 0;
      const isFree = !lane || (!lane.hasDue && !lane.isPaused && !lane.isHalfOpen(now));
      const rowsMax = lane?.isSuspect && lane.inFlight > 0 ? lane.pageRows : (lane?.queueRows ?? queueRowsMax);
      const isTaken = !isClosed && isFree && room.has(property) && waiting + count <= rowsMax;
      return isTaken ? now + leaseMs * 1000 : now;
    },
    offer(deliveries) {
      const now = clock.nowMicros();
      const touched = new Set<Lane>();
      for (const { property, endpoint, id, messageId, body, dueAt } of deliveries) {
        const lane = laneOf(property, endpoint);
        touched.add(lane);
        if (dueAt <= now) lane.hasDue = true;
        else if (isClosed || lane.queue.length >= 2 * lane.queueRows || !room.has(property)) {
          lane.hasDue = true;
          recorder.giveBack(property, [id]);
        } else push(lane, { property, id, messageId, body, attempts: 0, leaseUntil: dueAt });
      }
      for (const lane of touched) consider(lane);
    },
    wake(property, endpoints) {
      for (const endpoint of endpoints) wakeLane(property, endpoint);
    },
    refresh(endpoint) {
      const lane = lanes.get(endpoint);
      if (!lane) return sender.forget(endpoint);
      lane.changes++;
      stale.add(lane);
      void refreshStale();
    },
    start() {
      look = repeat(lookIntervalMs, log, "look for webhooks that are due", findWork);
      look.wake();
      ticking = setInterval(tick, tickMs);
    },
    async close() {
      isClosed = true;
      clearInterval(ticking);
      await look?.close();
      await runs.close(() => sender.close());
      for (const lane of lanes.values()) giveBackQueue(lane);
      await recorder.drain();
    },
  };
}
