/** Runs the attempts of lanes that are ready, each kind within its slots, one lane after the other. */
import type { Micros } from "#shared/values/clock.ts";
import { attempt, resultOf } from "./attempts.ts";
import type { Health } from "./health.ts";
import { slowMs, type Item, type Lane } from "./lane.ts";
import type { LanesContext, LanesOptions } from "./options.ts";
import type { Rates } from "./rates.ts";
import type { Recorder } from "./recorder.ts";
import { createSlots, type Slot } from "./slots.ts";

export interface Runs {
  /** Starts what a lane has, as soon as it has slots. */
  ready(lane: Lane): void;
  /** Moves attempts that take long out of the way of others. */
  watch(): void;
  /** Ends attempts as failures of nobody, and waits for them, for a while. */
  close(abort: () => Promise<void>): Promise<void>;
}

interface Running {
  lane: Lane;
  item: Item;
  slot: Slot;
  startedMs: number;
}

interface RunsContext extends LanesContext {
  recorder: Recorder;
  health: Health;
  rates: Rates;
  /** Is called after each attempt. */
  onDone: (lane: Lane) => void;
  /** Is called for what leaves the queue of a lane. */
  onTaken: (item: Item) => void;
}

const closeMsMax = 5_000;
const kinds = ["healthy", "suspect"] as const;

export function createRuns(
  context: RunsContext,
  { slotCounts, attemptTimeoutMs, random }: Required<LanesOptions>,
): Runs {
  // As long as the attempt again, for its result to be recorded.
  const leaseNeededMs = 2 * attemptTimeoutMs;
  const { clock, sender, metrics, recorder, health, rates, onDone, onTaken } = context;
  const slots = createSlots(slotCounts);
  const waiting = { healthy: new Set<Lane>(), suspect: new Set<Lane>() };
  const running = new Set<Running>();
  let isClosing = false;
  const idle: (() => void)[] = [];

  const mayStart = (lane: Lane): boolean =>
    lane.queue.length > 0 &&
    lane.inFlight < (lane.isProbing ? 1 : lane.limit) &&
    lane.isSendable &&
    !lane.isPaused &&
    recorder.hasRoom &&
    !isClosing;

  function startWaiting(): void {
    const now = clock.nowMicros();
    for (const kind of kinds) {
      for (const lane of waiting[kind]) {
        if (!slots.hasRoom(kind)) break;
        if (lane.isSuspect !== (kind === "suspect") || !mayStart(lane)) {
          waiting[kind].delete(lane);
          continue;
        }
        const slot = slots.take(lane);
        // Another property may have room. This lane keeps its turn.
        if (!slot) continue;
        waiting[kind].delete(lane);
        if (!rates.mayStart(lane)) slots.release(slot);
        else {
          start(lane, slot, now);
          // Its next turn is behind all others.
          if (mayStart(lane)) waiting[kind].add(lane);
        }
      }
    }
  }

  function start(lane: Lane, slot: Slot, now: Micros): void {
    const item = lane.queue.shift() as Item;
    onTaken(item);
    if (item.leaseUntil - now < leaseNeededMs * 1000) {
      // Another process could have it before the attempt is recorded, so it waits for the end of its lease.
      slots.release(slot);
      lane.hasDue = true;
      return;
    }
    lane.inFlight++;
    const entry = { lane, item, slot, startedMs: performance.now() };
    lane.usedAtMs = entry.startedMs;
    running.add(entry);
    void run(entry);
  }

  async function run(entry: Running): Promise<void> {
    const { lane, item, slot } = entry;
    const target = lane.state?.target;
    const result = target && (await attempt(sender, target, item));
    slots.release(slot);
    running.delete(entry);
    lane.inFlight--;
    if (!result || (isClosing && result.status === null && result.error !== null)) {
      // The end of the process ended it, which is no attempt.
      recorder.giveBack(lane.property, [item.id]);
    } else {
      const row = resultOf(item, result, clock, random());
      recorder.record(lane.property, row);
      metrics.count(row, result);
      lane.note(result, clock.nowMicros());
      health.note(lane, result);
    }
    onDone(lane);
    startWaiting();
    if (running.size === 0) for (const resolve of idle.splice(0)) resolve();
  }

  return {
    ready(lane) {
      if (!mayStart(lane)) return;
      waiting[lane.isSuspect ? "suspect" : "healthy"].add(lane);
      startWaiting();
    },
    watch() {
      const nowMs = performance.now();
      for (const { lane, slot, startedMs } of running) {
        // In the order in which they began.
        if (nowMs - startedMs < slowMs) break;
        slots.slowDown(slot);
        lane.suspect();
      }
      startWaiting();
    },
    async close(abort) {
      isClosing = true;
      const done = new Promise<void>((resolve) => (running.size === 0 ? resolve() : idle.push(resolve)));
      const timer = setTimeout(() => void abort(), closeMsMax);
      await done;
      clearTimeout(timer);
      await abort();
    },
  };
}
