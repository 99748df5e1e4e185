/** The low watermarks of the processes that store events. */
import type { Micros } from "#shared/values/clock.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

const upsert = (from: string): string =>
  `INSERT INTO event.writers (id, low_watermark, seen_at) SELECT $1, $2, now() ${from}
   ON CONFLICT (id) DO UPDATE SET low_watermark = excluded.low_watermark, seen_at = excluded.seen_at`;

/** Writes the low watermark of a process to disk. */
export const writeWatermarkDurably = statement<[id: Uuid, lowWatermark: Instant]>(
  "event.writers.write_durably",
  upsert(""),
);

/** The same without waiting for the disk, because after a crash the previous watermark is still true, only lower. */
export const writeWatermark = statement<[id: Uuid, lowWatermark: Instant]>(
  "event.writers.write",
  `WITH fast AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)) ${upsert("FROM fast")}`,
);

/** Marks a process as idle: it stores nothing. */
export const markIdle = statement<[id: Uuid]>(
  "event.writers.mark_idle",
  `UPDATE event.writers SET low_watermark = 'infinity', seen_at = now() WHERE id = $1`,
);

export const deleteWriter = statement<[id: Uuid]>("event.writers.delete", `DELETE FROM event.writers WHERE id = $1`);

/**
 * Deletes the rows of processes that were silent for an hour: they were killed, or are idle and insert their row again
 * when they wake. Returns one row for each.
 */
export const deleteSilentWriters = statement<[rowsMax: number], { gone: boolean }>(
  "event.writers.delete_silent",
  `DELETE FROM event.writers WHERE id = ANY(ARRAY(
     SELECT id FROM event.writers WHERE seen_at < now() - interval '1 hour' LIMIT $1
   )) RETURNING true AS gone`,
);

/** The watermark, with a message that may not be taken yet; nulls when there is none. */
export interface WatermarkRow {
  recorded_up_to: Micros;
  batch_id: Uuid | null;
  received_at: Micros | null;
}

const lowest = (now: string): string =>
  `SELECT least(min(low_watermark), ${now}) AS recorded_up_to FROM event.writers WHERE seen_at > now() - interval '1 minute'`;

/** Reads the lowest watermark alone. */
export const readLowestWatermark = statement<[now: Instant], { recorded_up_to: Micros }>(
  "event.writers.read_lowest_watermark",
  lowest("$1::timestamptz"),
);

/**
 * Reads the lowest watermark and the pending messages in one snapshot. An event up to the watermark is counted,
 * unless a pending message announces it.
 */
export const readWatermark = statement<
  [property: Uuid, subject: string, now: Instant, messagesMax: number],
  WatermarkRow
>(
  "event.writers.read_watermark",
  `SELECT writers.recorded_up_to, waiting.id AS batch_id, waiting.received_at
   FROM (
     ${lowest("$3")}
   ) writers
   LEFT JOIN LATERAL (
     SELECT id, received_at FROM event.outbox
     WHERE property_id = $1 AND subject = $2 ORDER BY received_at LIMIT $4
   ) waiting ON true`,
);
