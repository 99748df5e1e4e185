import { statement } from "#shared/database/postgres.ts";

/** A profile that was merged away, and the one at the end of the chain. */
export interface MergedRow {
  id: string;
  merged_into: string;
}

/** Merged profiles among some. $1 property_id, $2 ids */
export const findSurvivors = statement<MergedRow>(
  "profile.merges.find_survivors",
  `SELECT p.id, p.merged_into
   FROM unnest($2::uuid[]) AS wanted (id)
   CROSS JOIN LATERAL (
     SELECT id, merged_into FROM profile.profiles WHERE property_id = $1 AND id = wanted.id LIMIT 1
   ) p
   WHERE p.merged_into IS NOT NULL`,
);

/** What was merged into some profiles; a merged one stands for its survivor. $1 property_id, $2 ids */
export const findSources = statement<MergedRow>(
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

/** Empties a profile and points it to its survivor. $1 property_id, $2 source, $3 survivor, $4 now */
export const mergeAway = statement(
  "profile.merges.merge_away",
  `UPDATE profile.profiles
   SET status = 'merged', merged_into = $3, attributes = '{}', location = NULL, tags = '{}', updated_at = greatest(updated_at, $4),
       version = version + 1
   WHERE property_id = $1 AND id = $2`,
);

/** Points what was merged into a profile to its survivor. $1 property_id, $2 source, $3 survivor, $4 now */
export const pointToSurvivor = statement(
  "profile.merges.point_to_survivor",
  `UPDATE profile.profiles
   SET merged_into = $3, updated_at = greatest(updated_at, $4), version = version + 1
   WHERE property_id = $1 AND merged_into = $2`,
);

/** Keeps the record of a merge. $1 property_id, $2 id, $3 survivor, $4 source, $5 by whom, $6 request id, $7 when, $8 what moved */
export const insertMerge = statement(
  "profile.merges.insert",
  `INSERT INTO profile.merges (property_id, id, survivor_id, source_id, merged_by, request_id, merged_at, moved)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

/** Forgets what moved, not that it was merged. $1 property_id, $2 survivors */
export const redactMerges = statement(
  "profile.merges.redact",
  `UPDATE profile.merges SET moved = '{}' WHERE property_id = $1 AND survivor_id = ANY($2::uuid[])`,
);

/** $1 property_id, $2 id after which, $3 how many */
export const listMerges = statement<{ id: string; source_id: string; survivor_id: string }>(
  "profile.merges.list",
  `SELECT id, source_id, survivor_id FROM profile.merges WHERE property_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
);
