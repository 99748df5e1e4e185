import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

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

export const listMerges = statement<
  [property: Uuid, after: Uuid, limit: number],
  { id: Uuid; source_id: Uuid; survivor_id: Uuid }
>(
  "profile.merges.list",
  `SELECT id, source_id, survivor_id FROM profile.merges WHERE property_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
);
