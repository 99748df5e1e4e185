import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

export const setRefs = statement<[property: Uuid, enabled: boolean]>(
  "profile.refs.set",
  `INSERT INTO profile.ref_properties (property_id, enabled) VALUES ($1, $2)
   ON CONFLICT (property_id) DO UPDATE SET enabled = excluded.enabled`,
);

/** Finds profiles without a reference. */
export const findWithoutRef = statement<[property: Uuid, limit: number], { id: Uuid }>(
  "profile.refs.find_without",
  `SELECT id FROM profile.profiles WHERE property_id = $1 AND profile_ref IS NULL LIMIT $2`,
);

const refs = columns(3, { id: "uuid", ref: "text" });

/** Assigns references to profiles without one. Returns one row for each. */
export const assignRefs = statement<[property: Uuid, now: Instant, refs: Rows<typeof refs>], { id: Uuid }>(
  "profile.refs.assign",
  `UPDATE profile.profiles p SET profile_ref = w.ref, version = p.version + 1, updated_at = greatest(p.updated_at, $2)
   FROM ${refs.as("w")}
   WHERE p.property_id = $1 AND p.id = w.id AND p.profile_ref IS NULL
   RETURNING p.id`,
  refs,
);
