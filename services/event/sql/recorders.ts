import type { Micros } from "#shared/values/clock.ts";
import { statement } from "#shared/database/postgres.ts";

const upsert = (from: string): string =>
  `INSERT INTO event.recorders (id, floor, seen_at) SELECT $1, $2, now() ${from}
   ON CONFLICT (id) DO UPDATE SET floor = excluded.floor, seen_at = excluded.seen_at`;

/** Says how far a process is, before it goes on. $1 id, $2 floor */
export const writeFloorSafely = statement("event.recorders.write_safely", upsert(""));

/** The same without waiting for the disk: the floor of before is as true, only lower. $1 id, $2 floor */
export const writeFloor = statement(
  "event.recorders.write",
  `WITH fast AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)) ${upsert("FROM fast")}`,
);

/** Says that a process does nothing. $1 id */
export const rest = statement(
  "event.recorders.rest",
  `UPDATE event.recorders SET floor = 'infinity', seen_at = now() WHERE id = $1`,
);

/** $1 id */
export const deleteRecorder = statement("event.recorders.delete", `DELETE FROM event.recorders WHERE id = $1`);

/** Forgets processes that ended without a word. One row for each. $1 rows at most */
export const deleteSilentRecorders = statement<{ gone: boolean }>(
  "event.recorders.delete_silent",
  `DELETE FROM event.recorders WHERE id = ANY(ARRAY(
     SELECT id FROM event.recorders WHERE seen_at < now() - interval '1 hour' AND floor < 'infinity' LIMIT $1
   )) RETURNING true AS gone`,
);

/** A message that may not have been taken yet; null when there is none. */
export interface WatermarkRow {
  recorded_up_to: Micros;
  batch_id: string | null;
  received_at: Micros | null;
}

/**
 * How far all processes are, and what tells of events and waits to be taken, in one look: what is on record up to the floor and was not taken
 * is among the messages. $1 property_id, $2 subject, $3 now, $4 messages at most
 */
export const readWatermark = statement<WatermarkRow>(
  "event.recorders.read_watermark",
  `SELECT floors.recorded_up_to, waiting.id AS batch_id, waiting.received_at
   FROM (
     SELECT least(min(floor), $3) AS recorded_up_to FROM event.recorders WHERE seen_at > now() - interval '1 minute'
   ) floors
   LEFT JOIN LATERAL (
     SELECT id, coalesce(received_at, to_timestamp(0)) AS received_at FROM event.outbox
     WHERE property_id = $1 AND subject = $2 ORDER BY coalesce(received_at, to_timestamp(0)) LIMIT $4
   ) waiting ON true`,
);
