/** Reads on from a position in the events, in the order of receiving. */
import type { Micros } from "#shared/values/clock.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** What was recorded between two places. */
export interface TailRow {
  /** All events that were read, wanted or not. */
  scanned: number;
  wanted: number;
  /** The last event that was read; null without any. */
  last_received_at: Micros | null;
  last_id: Uuid | null;
  /** The last of the wanted events, newest first. */
  ids: Uuid[];
}

/**
 * Counts events up to an instant. A null filter matches all. It reads the index of received_at whatever the filters
 * are, because only that bounds the rows that it reads.
 */
export const tailEvents = statement<
  [
    property: Uuid,
    after: Instant,
    afterId: Uuid,
    upTo: Instant,
    scannedMax: number,
    idsMax: number,
    type: string | null,
    source: string | null,
    withoutSystem: boolean,
    profiles: readonly Uuid[] | null,
  ],
  TailRow
>(
  "event.tail.read",
  `WITH scanned AS MATERIALIZED (
     SELECT id, received_at,
            ($7::text IS NULL OR type = $7) AND ($8::text IS NULL OR source = $8) AND NOT ($9 AND source = 'system')
              AND ($10::uuid[] IS NULL OR (profile_id IS NOT NULL AND profile_id = ANY($10))) AS is_wanted
     FROM event.events
     WHERE property_id = $1 AND received_at > '-infinity' AND (received_at, id) > ($2, $3) AND received_at <= $4
     ORDER BY received_at, id LIMIT $5
   )
   SELECT counted.scanned, counted.wanted, last.received_at AS last_received_at, last.id AS last_id, ARRAY(
     SELECT id FROM scanned WHERE is_wanted ORDER BY received_at DESC, id DESC LIMIT $6
   ) AS ids
   FROM (SELECT count(*) AS scanned, count(*) FILTER (WHERE is_wanted) AS wanted FROM scanned) AS counted
   LEFT JOIN LATERAL (
     SELECT id, received_at FROM scanned ORDER BY received_at DESC, id DESC LIMIT 1
   ) AS last ON true`,
);
