import { statement } from "#shared/database/postgres.ts";

/** $1 property_id, $2 enabled */
export const setRefs = statement(
  "profile.refs.set",
  `INSERT INTO profile.ref_properties (property_id, enabled) VALUES ($1, $2)
   ON CONFLICT (property_id) DO UPDATE SET enabled = excluded.enabled`,
);

/** Profiles without a reference. $1 property_id, $2 how many */
export const findWithoutRef = statement<{ id: string }>(
  "profile.refs.find_without",
  `SELECT id FROM profile.profiles WHERE property_id = $1 AND profile_ref IS NULL LIMIT $2`,
);

/** Gives references to profiles that have none. $1 property_id, $2 ids, $3 references, $4 now. One row for each. */
export const assignRefs = statement<{ id: string }>(
  "profile.refs.assign",
  `UPDATE profile.profiles p SET profile_ref = w.ref, version = p.version + 1, updated_at = greatest(p.updated_at, $4)
   FROM unnest($2::uuid[], $3::text[]) AS w (id, ref)
   WHERE p.property_id = $1 AND p.id = w.id AND p.profile_ref IS NULL
   RETURNING p.id`,
);
