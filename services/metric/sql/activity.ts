/**
 * Roll-ups of many metrics by day. A look-up for each metric (LATERAL with LIMIT), because the key of roll-ups begins
 * with it, and PostgreSQL would join all of them otherwise.
 */
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

export interface ActivityRow {
  /** From 0. */
  day: number;
  /** Empty for events without a value. */
  currency: string;
  is_created: boolean;
  is_system: boolean;
  events: number;
  value: string;
  /** How many roll-ups were read. */
  rollups: number;
}

/**
 * Sums roll-ups of all metrics that have had an event since `from`, by day and currency. Events of the creation of
 * profiles, and others of the platform's own, are apart. Reads at most `rollupsMax`.
 */
export const sumActivity = statement<
  [
    property: Uuid,
    generation: number,
    from: Instant,
    to: Instant,
    dayStarts: readonly Instant[],
    createdName: string,
    rollupsMax: number,
  ],
  ActivityRow
>(
  "metric.activity.sum",
  `SELECT width_bucket(r.period, $5::timestamptz[]) - 1 AS day, r.currency, r.is_created, r.is_system,
          sum(r.events)::bigint AS events, sum(r.value) AS value, count(*) AS rollups
   FROM (
     SELECT one.period, one.currency, one.source = 'system' AND m.name = $6 AS is_created,
            one.source = 'system' AS is_system, one.events, one.value
     FROM (
       SELECT id, name FROM metric.metrics WHERE property_id = $1 AND last_occurred_at >= $3 AND first_occurred_at < $4
     ) m
     CROSS JOIN LATERAL (
       SELECT period, source, currency, events, value FROM metric.rollups
       WHERE property_id = $1 AND metric_id = m.id AND generation = $2 AND period >= $3 AND period < $4
       LIMIT $7
     ) one
     LIMIT $7
   ) r
   GROUP BY 1, 2, 3, 4`,
);

/** Counts the events of metrics by day. Reads at most `rollupsMax` roll-ups. */
export const countByDay = statement<
  [
    property: Uuid,
    metrics: readonly Uuid[],
    generation: number,
    from: Instant,
    to: Instant,
    dayStarts: readonly Instant[],
    rollupsMax: number,
  ],
  { metric_id: Uuid; day: number; events: number; rollups: number }
>(
  "metric.activity.count_by_day",
  `SELECT r.metric_id, width_bucket(r.period, $6::timestamptz[]) - 1 AS day, sum(r.events)::bigint AS events,
          count(*) AS rollups
   FROM (
     SELECT wanted.id AS metric_id, one.period, one.events
     FROM unnest($2::uuid[]) AS wanted (id)
     CROSS JOIN LATERAL (
       SELECT period, events FROM metric.rollups
       WHERE property_id = $1 AND metric_id = wanted.id AND generation = $3 AND period >= $4 AND period < $5
       LIMIT $7
     ) one
     LIMIT $7
   ) r
   GROUP BY 1, 2`,
);
