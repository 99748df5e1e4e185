import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";

export const setRefs = statement<[property: Uuid, enabled: boolean]>(
  "profile.refs.set",
  `INSERT INTO profile.ref_properties (property_id, enabled) VALUES ($1, $2)
   ON CONFLICT (property_id) DO UPDATE SET enabled = excluded.enabled`,
);

/** Profiles without a reference. */
export const findWithoutRef = statement<[property: Uuid, limit: number], { id: Uuid }>(
  "profile.refs.find_without",
  `SELECT id FROM profile.profiles WHERE property_id = $1 AND profile_ref IS NULL LIMIT $2`,
);

/** Gives references to profiles that have none. One row for each. */
export const assignRefs = statement<readonly unknown[], { id: Uuid }>(
  "profile.refs.assign",
  `UPDATE profile.profiles p SET profile_ref = w.ref, version = p.version + 1, updated_at = greatest(p.updated_at, $4)
   FROM unnest($2::uuid[], $3::text[]) AS w (id, ref)
   WHERE p.property_id = $1 AND p.id = w.id AND p.profile_ref IS NULL
   RETURNING p.id`,
);
