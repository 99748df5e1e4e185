import { statement } from "#shared/database/postgres.ts";

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
 * Makes a profile for each identifier that nobody has at that moment, with what is told of it. Those that somebody else was given meanwhile
 * give no row.
 * $1 property_id, $2 profile ids, $3 identifier ids, $4 types, $5 values, $6 source, $7 now, $8 profile_refs, if the property has them,
 * $9 outbox ids, $10 payloads, $11 subject.
 * In order of the identifiers, so that two of these at once wait for each other and never in a circle.
 */
export const createProfilesFor = statement<IdentifierOwnerRow>(
  "profile.identifiers.create_profiles",
  `WITH wanted AS (
     SELECT * FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $8::text[], $9::uuid[], $10::bytea[])
       AS w (profile_id, id, type, value, ref, outbox_id, payload)
   ), added AS (
     INSERT INTO profile.identifiers (property_id, type, value, id, profile_id, source, created_at, updated_at)
     SELECT $1, wanted.type, wanted.value, wanted.id, wanted.profile_id, $6, $7, $7 FROM wanted
     ORDER BY wanted.type, wanted.value
     ON CONFLICT (property_id, type, value) DO NOTHING
     RETURNING type, value, profile_id
   ), created AS (
     INSERT INTO profile.profiles (property_id, id, profile_ref, created_at, updated_at)
     SELECT $1, wanted.profile_id, CASE WHEN EXISTS (
       SELECT FROM profile.ref_properties WHERE property_id = $1 AND enabled
     ) THEN wanted.ref END, $7, $7
     FROM wanted JOIN added USING (profile_id)
   ), told AS (
     INSERT INTO profile.outbox (property_id, id, subject, payload)
     SELECT $1, wanted.outbox_id, $11, wanted.payload FROM wanted JOIN added USING (profile_id)
   )
   SELECT type, value, profile_id FROM added`,
);

/** Sets or takes the primary mark. $1 property_id, $2 profile_id, $3 ids, $4 is_primary, $5 now */
export const markIdentifiers = statement(
  "profile.identifiers.mark",
  `UPDATE profile.identifiers SET is_primary = $4, updated_at = $5
   WHERE property_id = $1 AND profile_id = $2 AND id = ANY($3::uuid[])`,
);

/** Gives all identifiers of a profile to another. $1 property_id, $2 from, $3 to, $4 types that have a primary one there, $5 now */
export const moveIdentifiers = statement(
  "profile.identifiers.move",
  `UPDATE profile.identifiers SET profile_id = $3, is_primary = is_primary AND type <> ALL($4::text[]), updated_at = $5
   WHERE property_id = $1 AND profile_id = $2`,
);

/** $1 property_id, $2 profile_id, $3 ids; null for all */
export const deleteIdentifiers = statement(
  "profile.identifiers.delete",
  `DELETE FROM profile.identifiers
   WHERE property_id = $1 AND profile_id = $2 AND ($3::uuid[] IS NULL OR id = ANY($3))`,
);
