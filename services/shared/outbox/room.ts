/** The size limit of an outbox: a bus that is away for long must not fill the database's disk. */
import { repeat } from "../scheduling/repeat.ts";
import type { SettingsReader } from "../process/config.ts";
import type { Closable } from "../process/lifecycle.ts";
import type { Log } from "../process/log.ts";
import type { Database } from "../database/postgres.ts";
import type { OutboxStatements } from "./sql.ts";

/** The default limit of an outbox, in bytes of messages. */
export const outboxBytesMaxDefault = 4 * 1024 ** 3;
const bytesMax = 10 ** 15 - 1;

const measureIntervalMsMin = 500;
// Measuring takes at most a fiftieth of the time, but the pause is bounded so that the limit is kept.
const pauseFactor = 50;
const measureIntervalMsMax = 10_000;

/** Reads OUTBOX_BYTES_MAX. */
export function readOutboxBytesMax(reader: SettingsReader): number {
  return reader.integer("OUTBOX_BYTES_MAX", outboxBytesMaxDefault, 1, bytesMax);
}

/** Measures an outbox repeatedly once started. While measuring fails, the last result holds. */
export function watchRoom(
  statements: OutboxStatements,
  database: Database,
  outboxBytesMax: number,
  log: Log,
): { hasRoom: () => boolean; start: () => Closable } {
  let hasRoom = true;
  let nextAtMs = 0;

  async function measure(): Promise<void> {
    const startMs = performance.now();
    if (startMs < nextAtMs) return;
    try {
      const [{ bytes } = { bytes: 0 }] = await statements.measure(database, [outboxBytesMax]);
      const isFull = bytes > outboxBytesMax;
      if (isFull === hasRoom)
        log.error({ bytes, outboxBytesMax }, isFull ? "the outbox is full" : "the outbox has room again");
      hasRoom = !isFull;
    } catch (error) {
      log.warn({ err: error }, "the outbox cannot be measured");
    }
    const endMs = performance.now();
    nextAtMs = endMs + Math.min(measureIntervalMsMax, (endMs - startMs) * pauseFactor);
  }

  return {
    hasRoom: () => hasRoom,
    start() {
      const measuring = repeat(measureIntervalMsMin, log, "measure the outbox", measure);
      measuring.wake();
      return measuring;
    },
  };
}
