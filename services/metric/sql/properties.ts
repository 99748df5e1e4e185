import type { Micros } from "#shared/values/clock.ts";
import { statement } from "#shared/database/postgres.ts";

/** A row of metric.properties, as far as counting needs it. */
export interface PropertyRow {
  property_id: string;
  generation: number;
  counted_up_to: Micros | null;
  building: number | null;
  building_up_to: Micros | null;
}

/** $1 property ids. Those that nothing was counted of give no row. */
export const readProperties = statement<PropertyRow>(
  "metric.properties.read",
  `SELECT property_id, generation, counted_up_to, building, building_up_to FROM metric.properties WHERE property_id = ANY($1::uuid[])`,
);

/** Adds properties that nothing was counted of before. $1 property ids, in order */
export const addProperties = statement(
  "metric.properties.add",
  `INSERT INTO metric.properties (property_id, generation) SELECT p, 1 FROM unnest($1::uuid[]) AS p ORDER BY p ON CONFLICT DO NOTHING`,
);

/** Holds off who would give out numbers of profiles too, until the end of the transaction. $1 property_id */
export const lockNumbers = statement(
  "metric.properties.lock",
  `SELECT FROM metric.properties WHERE property_id = $1 FOR UPDATE`,
);

/** Takes numbers. $1 property_id, $2 how many. @returns the last of them. */
export const takeNumbers = statement<{ last: number }>(
  "metric.properties.take_numbers",
  `UPDATE metric.properties SET profiles = profiles + $2 WHERE property_id = $1 RETURNING profiles AS last`,
);

/** $1 property_id */
export const readMerged = statement<{ merged: Buffer | null; merges_after: string | null }>(
  "metric.properties.read_merged",
  `SELECT merged, merges_after FROM metric.properties WHERE property_id = $1`,
);

/** $1 property_id, $2 bitmap, $3 last merge in it */
export const writeMerged = statement(
  "metric.properties.write_merged",
  `UPDATE metric.properties SET merged = $2, merges_after = greatest(merges_after, $3) WHERE property_id = $1`,
);

/** The properties that there are. $1 one, or null for all */
export const findPropertyIds = statement<{ property_id: string }>(
  "metric.properties.find_ids",
  `SELECT property_id FROM metric.properties WHERE $1::uuid IS NULL OR property_id = $1`,
);

/** Begins to count a property anew. $1 property_id, $2 what was received up to so many seconds from now. */
export const beginBuilding = statement<{ property_id: string }>(
  "metric.properties.begin_building",
  `UPDATE metric.properties
   SET building = greatest(generation, coalesce(building, 0)) + 1, building_up_to = clock_timestamp() + $2 * interval '1 second',
       built_at = NULL, built_event_id = NULL, built_events = 0, builder_seen_at = NULL
   WHERE property_id = $1
   RETURNING property_id`,
);

/** A property that is counted anew, and how far that has come. */
export interface BuildRow {
  property_id: string;
  generation: number;
  building: number;
  building_up_to: Micros;
  built_at: Micros | null;
  built_event_id: string | null;
}

/** Takes over a property that is to be counted anew and that nobody is at. $1 seconds without a word after which nobody is */
export const claimBuilding = statement<BuildRow>(
  "metric.properties.claim_building",
  `UPDATE metric.properties SET builder_seen_at = clock_timestamp()
   WHERE property_id = (
     SELECT property_id FROM metric.properties
     WHERE building IS NOT NULL AND (builder_seen_at IS NULL OR builder_seen_at < clock_timestamp() - $1 * interval '1 second')
     LIMIT 1 FOR UPDATE SKIP LOCKED
   )
   RETURNING property_id, generation, building, building_up_to, built_at, built_event_id`,
);

/** Says that somebody is at it. $1 property_id, $2 building. No row when it was begun anew. */
export const touchBuilding = statement<{ property_id: string }>(
  "metric.properties.touch_building",
  `UPDATE metric.properties SET builder_seen_at = clock_timestamp() WHERE property_id = $1 AND building = $2 RETURNING property_id`,
);

/** Notes how far it has come. $1 property_id, $2 building, $3 received_at and $4 id of the last event, $5 how many more. No row when it was begun anew. */
export const advanceBuilding = statement<{ property_id: string }>(
  "metric.properties.advance_building",
  `UPDATE metric.properties
   SET built_at = $3, built_event_id = $4, built_events = built_events + $5, builder_seen_at = clock_timestamp()
   WHERE property_id = $1 AND building = $2 RETURNING property_id`,
);

/** Shows what was built from now on. $1 property_id, $2 building. No row when it was begun anew. */
export const finishBuilding = statement<{ property_id: string }>(
  "metric.properties.finish_building",
  `UPDATE metric.properties SET generation = building, counted_up_to = building_up_to, building = NULL, building_up_to = NULL
   WHERE property_id = $1 AND building = $2 RETURNING property_id`,
);

/** $1 property_id or null for all */
export const describeBuilding = statement<{ properties: number; events: number }>(
  "metric.properties.describe_building",
  `SELECT count(*) AS properties, coalesce(sum(built_events), 0)::bigint AS events
   FROM metric.properties WHERE building IS NOT NULL AND ($1::uuid IS NULL OR property_id = $1)`,
);
