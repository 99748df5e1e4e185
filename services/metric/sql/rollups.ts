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

/** Reads sets of profiles. `at` identifies the requested key. */
export const readSets = statement<
  [property: Uuid, generation: number, keys: Rows<typeof wantedSets>],
  { at: number; profiles: Buffer }
>(
  "metric.rollup_profiles.read",
  `SELECT wanted.at, p.profiles
   FROM ${wantedSets.as("wanted")}
   CROSS JOIN LATERAL (
     SELECT profiles FROM metric.rollup_profiles
     WHERE property_id = $1 AND metric_id = wanted.metric_id AND generation = $2 AND period = wanted.period
       AND source = wanted.source AND currency = wanted.currency
     LIMIT 1
   ) p`,
  wantedSets,
);

const written = columns(3, { ...key, profiles: "bytea" });

export const writeSets = statement<[property: Uuid, generation: number, sets: Rows<typeof written>]>(
  "metric.rollup_profiles.write",
  `INSERT INTO metric.rollup_profiles (property_id, generation, metric_id, period, source, currency, profiles)
   SELECT $1, $2, c.metric_id, c.period, c.source, c.currency, c.profiles
   FROM ${written.as("c")}
   ORDER BY c.metric_id, c.period, c.source, c.currency
   ON CONFLICT (property_id, metric_id, generation, period, source, currency) DO UPDATE SET profiles = excluded.profiles`,
  written,
);

/** Selects roll-ups of a metric. A null source or currency matches all. */
export type WithinParams = [
  property: Uuid,
  metric: Uuid,
  generation: number,
  from: Instant,
  to: Instant,
  bucketStarts: readonly Instant[],
  source: string | null,
  currency: string | null,
];

const within = `property_id = $1 AND metric_id = $2 AND generation = $3 AND period >= $4 AND period < $5
     AND ($7::text IS NULL OR source = $7) AND ($8::text IS NULL OR currency = $8)`;

/** Sums by bucket, source and currency. */
export const sumRollups = statement<
  WithinParams,
  {
    bucket: number;
    source: string;
    currency: string;
    events: number;
    value: string;
  }
>(
  "metric.rollups.sum",
  `SELECT width_bucket(period, $6::timestamptz[]) - 1 AS bucket, source, currency, sum(events)::bigint AS events, sum(value) AS value
   FROM metric.rollups WHERE ${within}
   GROUP BY 1, 2, 3`,
);

/** A page of the sets of profiles of these roll-ups. */
export const readSetsWithin = statement<
  [...WithinParams, afterPeriod: Instant, afterSource: string, afterCurrency: string, limit: number],
  {
    period: Micros;
    bucket: number;
    source: string;
    currency: string;
    profiles: Buffer;
  }
>(
  "metric.rollup_profiles.read_within",
  `SELECT period, width_bucket(period, $6::timestamptz[]) - 1 AS bucket, source, currency, profiles
   FROM metric.rollup_profiles WHERE ${within} AND (period, source, currency) > ($9, $10, $11)
   ORDER BY period, source, currency LIMIT $12`,
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
