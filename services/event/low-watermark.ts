/**
 * The low watermark: the instant up to which all events are stored. An event gets its received_at before it is stored,
 * and several processes store events at once. So each process keeps a row with its own, and readers use the lowest.
 */
import type { Clock, Micros } from "#shared/values/clock.ts";
import { serviceUnavailable } from "#shared/values/errors.ts";
import { newUuid } from "#shared/values/ids.ts";
import type { Log } from "#shared/process/log.ts";
import { type Database } from "#shared/database/postgres.ts";
import { isDatabaseAway } from "#shared/database/failures.ts";
import { repeat } from "#shared/scheduling/repeat.ts";
import { formatMicros, type Instant } from "#shared/values/time.ts";
import { deleteWriter, markIdle, writeWatermark, writeWatermarkDurably } from "./sql/writers.ts";

/** The low watermark of this process. */
export interface LowWatermark {
  /**
   * Runs work that stores events as received at its instant. Each call gets a later instant than the one before.
   * The watermark stays below the instant until the work ends. The work calls checkHeld before it writes.
   */
  hold<T>(work: (now: Micros) => Promise<T>): Promise<T>;
  /** Starts to write the row. */
  start(): void;
  /** Deletes the row of this process. Call it when no work is running. */
  close(): Promise<void>;
}

/**
 * Checks, before events are written, that the watermark is still below their instant.
 * @throws DaybookError `service_unavailable` when the work took so long that readers may have passed the instant.
 */
export function checkHeld(clock: Clock, now: Micros): void {
  if (clock.nowMicros() - now > heldMaxMs * 1000) throw serviceUnavailable(new Error("recording took too long"));
}

// Maximum difference of the processes' clocks, because an idle process takes its next instant from its own clock.
const clockDifferenceMaxMicros = 250_000;

/** The highest watermark that readers may take: an instant before that of any event that is still to be received. */
export function watermarkMax(clock: Clock): Instant {
  return formatMicros(clock.nowMicros() - clockDifferenceMaxMicros);
}

const beatIntervalMs = 250;
// A process that stores nothing for this long marks itself idle, and stops writing its row.
const idleAfterMs = 10_000;
// Maximum age of an instant when its events are written: a statement may take 30 s, and readers skip rows after 60 s.
const heldMaxMs = 25_000;
// A statement whose connection broke may still be executed, until the server's timeout of 30 s.
const unknownOutcomeMs = 35_000;

export function createLowWatermark(database: Database, clock: Clock, log: Log): LowWatermark {
  const id = newUuid();
  // In the order of their instants, because each is later than the one before.
  const held = new Map<symbol, Micros>();
  const timers = new Set<NodeJS.Timeout>();
  let lastInstant = 0;
  let lastHeldMs = 0;
  let isIdle = true;
  let waking: Promise<void> | undefined;
  // Serializes the writes of the row.
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

  /** Writes the row, which must exist before work begins. */
  function wake(): Promise<void> {
    waking ??= write(() => writeWatermarkDurably(database, [id, formatMicros(nextInstant())]))
      .then(() => {
        isIdle = false;
        lastHeldMs = performance.now();
      })
      .finally(() => (waking = undefined));
    return waking;
  }

  async function beat(): Promise<void> {
    if (isIdle) return;
    if (held.size === 0 && performance.now() - lastHeldMs > idleAfterMs) {
      isIdle = true;
      await write(() => markIdle(database, [id]));
      return;
    }
    await write(() => {
      const [earliest] = held.values();
      return writeWatermark(database, [id, formatMicros(earliest === undefined ? nextInstant() : earliest - 1)]);
    });
  }

  return {
    async hold(work) {
      while (isIdle) await wake();
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
      beating = repeat(beatIntervalMs, log, "write the low watermark", beat);
    },
    async close() {
      await beating?.close();
      const isDone = held.size === 0;
      isIdle = true;
      for (const timer of timers) clearTimeout(timer);
      // Otherwise a statement may still be executed, so the row must limit readers until it is a minute old.
      if (isDone) await write(() => deleteWriter(database, [id])).catch(() => undefined);
    },
  };
}
