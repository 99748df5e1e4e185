/** Counts of events that read a limited number of them. */
import type { Micros } from "#shared/values/clock.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** Counts the events of profiles up to a maximum. */
export const countOfProfiles = statement<
  [property: Uuid, profiles: readonly Uuid[], countMax: number],
  { count: number }
>(
  "event.counts.of_profiles",
  `SELECT count(*) AS count FROM (
     SELECT FROM unnest($2::uuid[]) AS whose (profile)
     CROSS JOIN LATERAL (
       SELECT FROM event.events WHERE property_id = $1 AND profile_id = whose.profile LIMIT $3
     ) e
     LIMIT $3
   ) AS counted`,
);

/**
 * Counts the last events that were received within a range by minute. Those of the platform are counted apart too.
 */
export const countRecent = statement<
  [property: Uuid, from: Instant, upTo: Instant, eventsMax: number],
  { minute: Micros; count: number; system_count: number }
>(
  "event.counts.recent",
  `SELECT date_bin('1 minute', received_at, '2000-01-01 00:00:00+00') AS minute, count(*) AS count,
          count(*) FILTER (WHERE source = 'system') AS system_count
   FROM (
     SELECT received_at, source FROM event.events
     WHERE property_id = $1 AND received_at > '-infinity' AND received_at >= $2 AND received_at <= $3
     ORDER BY received_at DESC, id DESC LIMIT $4
   ) AS last
   GROUP BY 1`,
);
