/**
 * How far recording has come, so that an answer can truly say up to when all events are in it. An event's received_at is given to it before
 * it is on record, and several processes record at once: each keeps a row that says which of its events are still on their way.
 */
import type { Clock, Micros } from "#shared/values/clock.ts";
import { serviceUnavailable } from "#shared/values/errors.ts";
import { newUuid } from "#shared/values/ids.ts";
import type { Log } from "#shared/process/log.ts";
import { type Database } from "#shared/database/postgres.ts";
import { isDatabaseAway } from "#shared/database/failures.ts";
import { repeat } from "#shared/scheduling/repeat.ts";
import { formatMicros } from "#shared/values/time.ts";
import { deleteRecorder, rest, writeFloor, writeFloorSafely } from "./sql/recorders.ts";

/** See the head of this file. */
export interface RecordingFloor {
  /**
   * Does work that records events as received at the instant that it is given. Of later events of this process each is given a later one.
   * The work calls checkHeld before it writes.
   */
  hold<T>(work: (now: Micros) => Promise<T>): Promise<T>;
  /** Begins to tell how far it is. */
  start(): void;
  /** Takes back the row of this process. To be called when nothing is held any more. */
  close(): Promise<void>;
}

/**
 * To be called before what is received at an instant is written.
 * @throws DaybookError `service_unavailable` when too much time has passed: whoever asked how far recording is was told that nothing of then is
 * to come any more.
 */
export function checkHeld(clock: Clock, now: Micros): void {
  if (clock.nowMicros() - now > heldMaxMs * 1000) throw serviceUnavailable(new Error("recording took too long"));
}

const beatIntervalMs = 250;
// A process that records nothing for this long lets the database rest too.
const restAfterMs = 10_000;
// How old an instant may be when its events are written. Rows of processes that say nothing for a minute are passed over, and a statement takes half of that.
const heldMaxMs = 25_000;
// A statement whose connection broke may still be carried out, within the limit that the server has for it.
const unknownOutcomeMs = 35_000;

export function createRecordingFloor(database: Database, clock: Clock, log: Log): RecordingFloor {
  const id = newUuid();
  // In the order of their instants, as each is later than the one before.
  const held = new Map<symbol, Micros>();
  const timers = new Set<NodeJS.Timeout>();
  let lastInstant = 0;
  let lastHeldMs = 0;
  let isResting = true;
  let waking: Promise<void> | undefined;
  // Writes of the row, one after the other.
  let writing: Promise<unknown> = Promise.resolve();
  let beating: { close(): Promise<void> } | undefined;

  function nextInstant(): Micros {
    lastInstant = Math.max(clock.nowMicros(), lastInstant + 1);
    return lastInstant;
  }

  function write(work: () => Promise<unknown>): Promise<unknown> {
    writing = writing.then(work, work);
    return writing;
  }

  /** The row must say that there is work before there is any. */
  function wake(): Promise<void> {
    waking ??= write(() => writeFloorSafely(database, [id, formatMicros(nextInstant())]))
      .then(() => {
        isResting = false;
        lastHeldMs = performance.now();
      })
      .finally(() => (waking = undefined));
    return waking;
  }

  async function beat(): Promise<void> {
    if (isResting) return;
    if (held.size === 0 && performance.now() - lastHeldMs > restAfterMs) {
      isResting = true;
      await write(() => rest(database, [id]));
      return;
    }
    await write(() => {
      const [earliest] = held.values();
      const floor = earliest === undefined ? nextInstant() : earliest - 1;
      return writeFloor(database, [id, formatMicros(floor)]);
    });
  }

  return {
    async hold(work) {
      while (isResting) await wake();
      const token = Symbol("held");
      const now = nextInstant();
      held.set(token, now);
      const release = (): void => {
        held.delete(token);
        lastHeldMs = performance.now();
      };
      try {
        const result = await work(now);
        release();
        return result;
      } catch (error) {
        if (isDatabaseAway(error)) {
          const timer = setTimeout(() => {
            timers.delete(timer);
            release();
          }, unknownOutcomeMs);
          timers.add(timer);
        } else release();
        throw error;
      }
    },
    start() {
      beating = repeat(beatIntervalMs, log, "tell how far recording is", beat);
    },
    async close() {
      await beating?.close();
      const isDone = held.size === 0;
      isResting = true;
      for (const timer of timers) clearTimeout(timer);
      // What may still be carried out is passed over only when the row is a minute old.
      if (isDone) await write(() => deleteRecorder(database, [id])).catch(() => undefined);
    },
  };
}
