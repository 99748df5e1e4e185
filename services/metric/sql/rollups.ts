/** Roll-ups and their sets of profiles. */
import type { Micros } from "#shared/values/clock.ts";
import { columns, type Rows } from "#shared/database/columns.ts";
import { plannedStatement, statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

const key = { metric_id: "uuid", period: "timestamptz", source: "text", currency: "text" } as const;
const added = columns(3, { ...key, events: "bigint", value: "numeric" });

/** Adds to roll-ups, ordered by key. */
export const addToRollups = statement<[property: Uuid, generation: number, rollups: Rows<typeof added>]>(
  "metric.rollups.add",
  `INSERT INTO metric.rollups AS r (property_id, generation, metric_id, period, source, currency, events, value)
   SELECT $1, $2, c.metric_id, c.period, c.source, c.currency, c.events, c.value
   FROM ${added.as("c")}
   ORDER BY c.metric_id, c.period, c.source, c.currency
   ON CONFLICT (property_id, metric_id, generation, period, source, currency)
     DO UPDATE SET events = r.events + excluded.events, value = r.value + excluded.value`,
  added,
);

const wantedSets = columns(3, { ...key, at: "integer" });

/** Reads sets of profiles of quarters of an hour. `at` identifies the requested key. */
export const readSets = statement<
  [property: Uuid, generation: number, keys: Rows<typeof wantedSets>],
  { at: number; profiles: Buffer }
>(
  "metric.rollup_profiles.read",
  `SELECT wanted.at, p.profiles
   FROM ${wantedSets.as("wanted")}
   CROSS JOIN LATERAL (
     SELECT profiles FROM metric.rollup_profiles
     WHERE property_id = $1 AND metric_id = wanted.metric_id AND generation = $2 AND minutes = 15
       AND period = wanted.period AND source = wanted.source AND currency = wanted.currency
     LIMIT 1
   ) p`,
  wantedSets,
);

const written = columns(3, { ...key, minutes: "smallint", profiles: "bytea" });

export const writeSets = statement<[property: Uuid, generation: number, sets: Rows<typeof written>]>(
  "metric.rollup_profiles.write",
  `INSERT INTO metric.rollup_profiles (property_id, generation, metric_id, minutes, period, source, currency, profiles)
   SELECT $1, $2, c.metric_id, c.minutes, c.period, c.source, c.currency, c.profiles
   FROM ${written.as("c")}
   ORDER BY c.metric_id, c.minutes, c.period, c.source, c.currency
   ON CONFLICT (property_id, metric_id, generation, minutes, period, source, currency)
     DO UPDATE SET profiles = excluded.profiles`,
  written,
);

/** Selects roll-ups of a metric. A null source or currency matches all. */
export type ChosenParams = [
  property: Uuid,
  metric: Uuid,
  generation: number,
  source: string | null,
  currency: string | null,
];

const chosen = `property_id = $1 AND metric_id = $2 AND generation = $3
     AND ($4::text IS NULL OR source = $4) AND ($5::text IS NULL OR currency = $5)`;

/** Sums by bucket, source and currency. */
export const sumRollups = statement<
  [...ChosenParams, from: Instant, before: Instant, bucketStarts: readonly Instant[]],
  {
    bucket: number;
    source: string;
    currency: string;
    events: number;
    value: string;
  }
>(
  "metric.rollups.sum",
  `SELECT width_bucket(period, $8::timestamptz[]) - 1 AS bucket, source, currency, sum(events)::bigint AS events, sum(value) AS value
   FROM metric.rollups WHERE ${chosen} AND period >= $6 AND period < $7
   GROUP BY 1, 2, 3`,
);

const spans = columns(10, { minutes: "smallint", starts_at: "timestamptz", ends_at: "timestamptz" });

export interface SetRow {
  period: Micros;
  source: string;
  currency: string;
  profiles: Buffer;
}

/**
 * A page of the sets of profiles of some spans, each of which is read by periods of one length. Callers cut spans at
 * the period that the page comes after, because no index helps to skip the sets before it.
 */
export const readSetsWithin = statement<
  [
    ...ChosenParams,
    afterPeriod: Instant,
    afterSource: string,
    afterCurrency: string,
    limit: number,
    spans: Rows<typeof spans>,
  ],
  SetRow
>(
  "metric.rollup_profiles.read_within",
  `SELECT s.*
   FROM ${spans.as("span")}
   CROSS JOIN LATERAL (
     SELECT period, source, currency, profiles FROM metric.rollup_profiles
     WHERE ${chosen} AND minutes = span.minutes AND period >= span.starts_at AND period < span.ends_at
       AND (period > $6 OR (source, currency) > ($7, $8))
     ORDER BY period, source, currency LIMIT $9
   ) s
   ORDER BY s.period, s.source, s.currency LIMIT $9`,
  spans,
);

/** Number of events in the roll-ups of metrics. */
export const countRollups = statement<
  [property: Uuid, metrics: readonly Uuid[], generation: number],
  { metric_id: Uuid; events: number }
>(
  "metric.rollups.count",
  `SELECT metric_id, sum(events)::bigint AS events FROM metric.rollups
   WHERE property_id = $1 AND metric_id = ANY($2::uuid[]) AND generation = $3
   GROUP BY metric_id`,
);

/**
 * Deletes rows of older generations; gives a row for each. Planned each time: a plan cached while the table was small
 * would read all rows of the property.
 */
const deleteOld = (table: string) =>
  plannedStatement<
    [property: Uuid, metrics: readonly Uuid[], shownGeneration: number, rowsMax: number],
    { gone: boolean }
  >(
    `DELETE FROM metric.${table} WHERE property_id = $1 AND ctid = ANY(ARRAY(
       SELECT ctid FROM metric.${table}
       WHERE property_id = $1 AND metric_id = ANY($2::uuid[]) AND generation < $3 LIMIT $4
     )) RETURNING true AS gone`,
  );

export const deleteOldRollups = deleteOld("rollups");

/** Of the sets of profiles. */
export const deleteOldSets = deleteOld("rollup_profiles");
export const deleteOldDays = deleteOld("open_days");
