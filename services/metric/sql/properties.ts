import type { Micros } from "#shared/values/clock.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** The columns of metric.properties that counting needs. */
export interface PropertyRow {
  property_id: Uuid;
  generation: number;
  counted_up_to: Micros | null;
  building: number | null;
  building_up_to: Micros | null;
}

/** Properties of which nothing was counted give no row. */
export const readProperties = statement<[properties: readonly Uuid[]], PropertyRow>(
  "metric.properties.read",
  `SELECT property_id, generation, counted_up_to, building, building_up_to FROM metric.properties WHERE property_id = ANY($1::uuid[])`,
);

export const addProperties = statement<[properties: readonly Uuid[]]>(
  "metric.properties.add",
  `INSERT INTO metric.properties (property_id, generation) SELECT p, 1 FROM unnest($1::uuid[]) AS p ORDER BY p ON CONFLICT DO NOTHING`,
);

/** Locks the ordinals of a property until the end of the transaction. */
export const lockOrdinals = statement<[property: Uuid]>(
  "metric.properties.lock",
  `SELECT FROM metric.properties WHERE property_id = $1 FOR UPDATE`,
);

/** Reserves ordinals. @returns the last one. */
export const takeOrdinals = statement<[property: Uuid, count: number], { last: number }>(
  "metric.properties.take_numbers",
  `UPDATE metric.properties SET profiles = profiles + $2 WHERE property_id = $1 RETURNING profiles AS last`,
);

export const readMerged = statement<[property: Uuid], { merged: Buffer | null; merges_after: Uuid | null }>(
  "metric.properties.read_merged",
  `SELECT merged, merges_after FROM metric.properties WHERE property_id = $1`,
);

export const writeMerged = statement<[property: Uuid, merged: Buffer, mergesAfter: Uuid]>(
  "metric.properties.write_merged",
  `UPDATE metric.properties SET merged = $2, merges_after = greatest(merges_after, $3) WHERE property_id = $1`,
);

/** All properties, or the one given. */
export const findPropertyIds = statement<[property: Uuid | null], { property_id: Uuid }>(
  "metric.properties.find_ids",
  `SELECT property_id FROM metric.properties WHERE $1::uuid IS NULL OR property_id = $1`,
);

/** Begins a rebuild, or begins it again. It covers events received up to that many seconds from now. */
export const beginRebuild = statement<[property: Uuid, seconds: number], { property_id: Uuid }>(
  "metric.properties.begin_building",
  `UPDATE metric.properties
   SET building = greatest(generation, coalesce(building, 0)) + 1, building_up_to = statement_timestamp() + $2 * interval '1 second',
       built_at = NULL, built_event_id = NULL, built_events = 0, builder_seen_at = NULL
   WHERE property_id = $1
   RETURNING property_id`,
);

/** A rebuild and its progress. */
export interface RebuildRow {
  property_id: Uuid;
  generation: number;
  building: number;
  building_up_to: Micros;
  built_at: Micros | null;
  built_event_id: Uuid | null;
}

/** Finds properties with a rebuild that no process runs. */
export const findSilentRebuilds = statement<[silentSeconds: number, limit: number], { property_id: Uuid }>(
  "metric.properties.find_silent_buildings",
  `SELECT property_id FROM metric.properties
   WHERE building IS NOT NULL AND (builder_seen_at IS NULL OR builder_seen_at < now() - $1 * interval '1 second')
   LIMIT $2`,
);

/** Claims a rebuild that no process runs. */
export const claimRebuild = statement<[property: Uuid, silentSeconds: number], RebuildRow>(
  "metric.properties.claim_building",
  `UPDATE metric.properties SET builder_seen_at = statement_timestamp()
   WHERE property_id = $1 AND building IS NOT NULL
     AND (builder_seen_at IS NULL OR builder_seen_at < now() - $2 * interval '1 second')
   RETURNING property_id, generation, building, building_up_to, built_at, built_event_id`,
);

/** Keeps the claim of a rebuild. No row if it was begun again. */
export const touchRebuild = statement<[property: Uuid, building: number], { property_id: Uuid }>(
  "metric.properties.touch_building",
  `UPDATE metric.properties SET builder_seen_at = statement_timestamp() WHERE property_id = $1 AND building = $2 RETURNING property_id`,
);

/** Stores the progress of a rebuild. No row if it was begun again. */
export const advanceRebuild = statement<
  [property: Uuid, building: number, receivedAt: Instant, event: Uuid, count: number],
  { property_id: Uuid }
>(
  "metric.properties.advance_building",
  `UPDATE metric.properties
   SET built_at = $3, built_event_id = $4, built_events = built_events + $5, builder_seen_at = statement_timestamp()
   WHERE property_id = $1 AND building = $2 RETURNING property_id`,
);

/** Makes the rebuilt generation the one that queries read. No row if the rebuild was begun again. */
export const finishRebuild = statement<[property: Uuid, building: number], { property_id: Uuid }>(
  "metric.properties.finish_building",
  `UPDATE metric.properties SET generation = building, counted_up_to = building_up_to, building = NULL, building_up_to = NULL
   WHERE property_id = $1 AND building = $2 RETURNING property_id`,
);

export const describeBuilding = statement<[property: Uuid | null], { properties: number; events: number }>(
  "metric.properties.describe_building",
  `SELECT count(*) AS properties, coalesce(sum(built_events), 0)::bigint AS events
   FROM metric.properties WHERE building IS NOT NULL AND ($1::uuid IS NULL OR property_id = $1)`,
);
