import type { Micros } from "#shared/values/clock.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import type { Moved } from "../domain/moved.ts";

/** A merged profile and its survivor. */
export interface MergedRow {
  id: Uuid;
  merged_into: Uuid;
}

/** Finds the merged profiles among `ids`. */
export const findSurvivors = statement<[property: Uuid, ids: readonly Uuid[]], MergedRow>(
  "profile.merges.find_survivors",
  `SELECT p.id, p.merged_into
   FROM unnest($2::uuid[]) AS wanted (id)
   CROSS JOIN LATERAL (
     SELECT id, merged_into FROM profile.profiles WHERE property_id = $1 AND id = wanted.id LIMIT 1
   ) p
   WHERE p.merged_into IS NOT NULL`,
);

/** Finds the profiles merged into those of `ids`, or into the survivors of merged ones. */
export const findSources = statement<[property: Uuid, ids: readonly Uuid[]], MergedRow>(
  "profile.merges.find_sources",
  `SELECT id, merged_into FROM profile.profiles
   WHERE property_id = $1 AND merged_into = ANY(ARRAY(
     SELECT coalesce(p.merged_into, p.id)
     FROM unnest($2::uuid[]) AS wanted (id)
     CROSS JOIN LATERAL (
       SELECT id, merged_into FROM profile.profiles WHERE property_id = $1 AND id = wanted.id LIMIT 1
     ) p
   ))`,
);

/** Makes a profile a tombstone that points to its survivor. */
export const mergeAway = statement<[property: Uuid, source: Uuid, survivor: Uuid, now: Instant]>(
  "profile.merges.merge_away",
  `UPDATE profile.profiles
   SET status = 'merged', merged_into = $3, attributes = '{}', location = NULL, tags = '{}', updated_at = greatest(updated_at, $4),
       version = version + 1
   WHERE property_id = $1 AND id = $2`,
);

/** Points the profiles that were merged into a profile to its survivor. */
export const pointToSurvivor = statement<[property: Uuid, source: Uuid, survivor: Uuid, now: Instant]>(
  "profile.merges.point_to_survivor",
  `UPDATE profile.profiles
   SET merged_into = $3, updated_at = greatest(updated_at, $4), version = version + 1
   WHERE property_id = $1 AND merged_into = $2`,
);

export const insertMerge = statement<
  [
    property: Uuid,
    id: Uuid,
    survivor: Uuid,
    source: Uuid,
    mergedBy: string,
    requestId: string,
    mergedAt: Instant,
    moved: string,
  ]
>(
  "profile.merges.insert",
  `INSERT INTO profile.merges (property_id, id, survivor_id, source_id, merged_by, request_id, merged_at, moved)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

/** Deletes what moved from the records of merges. */
export const redactMerges = statement<[property: Uuid, survivors: readonly Uuid[]]>(
  "profile.merges.redact",
  `UPDATE profile.merges SET moved = '{}' WHERE property_id = $1 AND survivor_id = ANY($2::uuid[])`,
);

/** The record of a merge. */
export interface MergeRow {
  id: Uuid;
  source_id: Uuid;
  survivor_id: Uuid;
  merged_at: Micros;
  merged_by: string;
}

const shown = "id, source_id, survivor_id, merged_at, merged_by";

export const listMerges = statement<[property: Uuid, after: Uuid, limit: number], MergeRow>(
  "profile.merges.list",
  `SELECT ${shown} FROM profile.merges WHERE property_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
);

/**
 * Lists the merges of one profile: into it, of what was merged into it since, and its own. One look-up each by what
 * was merged away.
 */
export const listMergesOf = statement<
  [property: Uuid, profile: Uuid, after: Uuid, limit: number],
  MergeRow & { moved: Partial<Moved> }
>(
  "profile.merges.list_of",
  `SELECT m.*
   FROM (
     SELECT $2::uuid AS source
     UNION SELECT id FROM profile.profiles WHERE property_id = $1 AND merged_into = $2
     UNION SELECT source_id FROM profile.merges WHERE property_id = $1 AND survivor_id = $2
   ) AS wanted
   CROSS JOIN LATERAL (
     SELECT ${shown}, moved FROM profile.merges WHERE property_id = $1 AND source_id = wanted.source LIMIT 1
   ) m
   WHERE m.id > $3
   ORDER BY m.id LIMIT $4`,
);

/** Counts the profiles that were merged into a profile. */
export const countSources = statement<[property: Uuid, profile: Uuid], { count: number }>(
  "profile.merges.count_sources",
  `SELECT count(*) AS count FROM profile.profiles WHERE property_id = $1 AND merged_into = $2`,
);
