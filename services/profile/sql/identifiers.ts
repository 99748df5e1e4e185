import { statement } from "#shared/postgres.ts";

/** Whose an identifier is. */
export interface IdentifierOwnerRow {
  type: string;
  value: string;
  profile_id: string;
}

/**
 * $1 property_id, $2 types, $3 values. Identifiers that nobody has give no row.
 * One look-up each (LATERAL with LIMIT 1): a plain join is planned by the statistics of a table that may have been empty when they were
 * made, and was measured to read all identifiers of the property.
 */
export const findOwners = statement<IdentifierOwnerRow>(
  "profile.identifiers.find_owners",
  `SELECT i.type, i.value, i.profile_id
   FROM unnest($2::text[], $3::text[]) AS wanted (type, value)
   CROSS JOIN LATERAL (
     SELECT type, value, profile_id FROM profile.identifiers
     WHERE property_id = $1 AND type = wanted.type AND value = wanted.value LIMIT 1
   ) i`,
);

/**
 * Makes a profile for each identifier that nobody has at that moment. Those that somebody else was given meanwhile give no row.
 * $1 property_id, $2 profile ids, $3 identifier ids, $4 types, $5 values, $6 source, $7 now.
 * In order of the identifiers, so that two of these at once wait for each other and never in a circle.
 */
export const createProfilesFor = statement<IdentifierOwnerRow>(
  "profile.identifiers.create_profiles",
  `WITH added AS (
     INSERT INTO profile.identifiers (property_id, type, value, id, profile_id, source, created_at, updated_at)
     SELECT $1, wanted.type, wanted.value, wanted.id, wanted.profile_id, $6, $7, $7
     FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[]) AS wanted (profile_id, id, type, value)
     ORDER BY wanted.type, wanted.value
     ON CONFLICT (property_id, type, value) DO NOTHING
     RETURNING type, value, profile_id
   ), created AS (
     INSERT INTO profile.profiles (property_id, id, created_at, updated_at)
     SELECT $1, profile_id, $7, $7 FROM added
   )
   SELECT type, value, profile_id FROM added`,
);

/**
 * Adds identifiers to a profile. Those that somebody has give no row.
 * $1 property_id, $2 profile_id, $3 ids, $4 types, $5 values, $6 whether primary, $7 source, $8 now.
 */
export const addIdentifiers = statement<IdentifierOwnerRow>(
  "profile.identifiers.add",
  `INSERT INTO profile.identifiers (property_id, type, value, id, profile_id, is_primary, source, created_at, updated_at)
   SELECT $1, wanted.type, wanted.value, wanted.id, $2, wanted.is_primary, $7, $8, $8
   FROM unnest($3::uuid[], $4::text[], $5::text[], $6::boolean[]) AS wanted (id, type, value, is_primary)
   ORDER BY wanted.type, wanted.value
   ON CONFLICT (property_id, type, value) DO NOTHING
   RETURNING type, value, profile_id`,
);

/**
 * Takes the primary mark from the others of each type, as a new one is to have it.
 * $1 property_id, $2 profile_id, $3 types, $4 values of the new ones, $5 now.
 */
export const demoteOthers = statement(
  "profile.identifiers.demote_others",
  `UPDATE profile.identifiers i SET is_primary = false, updated_at = $5
   FROM unnest($3::text[], $4::text[]) AS promoted (type, value)
   WHERE i.property_id = $1 AND i.profile_id = $2 AND i.type = promoted.type AND i.value <> promoted.value AND i.is_primary`,
);

/**
 * Marks identifiers of a profile as primary.
 * $1 property_id, $2 profile_id, $3 types, $4 values, $5 now. Those that were marked before give no row.
 */
export const promote = statement<{ id: string }>(
  "profile.identifiers.promote",
  `UPDATE profile.identifiers i SET is_primary = true, updated_at = $5
   FROM unnest($3::text[], $4::text[]) AS promoted (type, value)
   WHERE i.property_id = $1 AND i.profile_id = $2 AND i.type = promoted.type AND i.value = promoted.value AND NOT i.is_primary
   RETURNING i.id`,
);
