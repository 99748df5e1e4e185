import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import { barredBySuppression, unlessSuppressed } from "./suppressions.ts";

/** The owner of an identifier. */
export interface IdentifierOwnerRow {
  type: string;
  value: string;
  profile_id: Uuid;
}

/** An identifier with its owner, or a suppressed one. A suppressed one with an owner has a row of each kind. */
export type FoundIdentifierRow = Omit<IdentifierOwnerRow, "profile_id"> & { profile_id: Uuid | null };

const wanted = columns(2, { type: "text", value: "text" });

/**
 * A free identifier gives no row. One look-up each (LATERAL with LIMIT 1), because a plain join with statistics of an
 * empty table was measured to read all identifiers of the property.
 */
export const findOwners = statement<[property: Uuid, identifiers: Rows<typeof wanted>], IdentifierOwnerRow>(
  "profile.identifiers.find_owners",
  `SELECT i.type, i.value, i.profile_id
   FROM ${wanted.as("wanted")}
   CROSS JOIN LATERAL (
     SELECT type, value, profile_id FROM profile.identifiers
     WHERE property_id = $1 AND type = wanted.type AND value = wanted.value LIMIT 1
   ) i`,
  wanted,
);

/** As findOwners, and also a row without an owner for each suppressed identifier. */
export const findOwnersAndSuppressed = statement<
  [property: Uuid, identifiers: Rows<typeof wanted>],
  FoundIdentifierRow
>(
  "profile.identifiers.find_owners_and_suppressed",
  `SELECT i.type, i.value, i.profile_id
   FROM ${wanted.as("wanted")}
   CROSS JOIN LATERAL (
     SELECT type, value, profile_id FROM profile.identifiers
     WHERE property_id = $1 AND type = wanted.type AND value = wanted.value LIMIT 1
   ) i
   UNION ALL
   SELECT w.type, w.value, NULL FROM ${wanted.as("w")} ${barredBySuppression("w")}`,
  wanted,
);

const created = columns(5, {
  profile_id: "uuid",
  id: "uuid",
  type: "text",
  value: "text",
  // Stored if the property has references.
  ref: "text",
  message_id: "uuid",
  payload: "bytea",
});

/**
 * Creates a profile and an outbox row for each free identifier. One that was taken or suppressed meanwhile gives no
 * row. Inserts in the order of the identifiers, so that two concurrent statements never deadlock.
 */
export const createProfilesFor = statement<
  [property: Uuid, source: string, now: Instant, subject: string, profiles: Rows<typeof created>],
  IdentifierOwnerRow
>(
  "profile.identifiers.create_profiles",
  `WITH wanted AS (
     SELECT w.* FROM ${created.as("w")} ${unlessSuppressed("w")}
   ), added AS (
     INSERT INTO profile.identifiers (property_id, type, value, id, profile_id, source, created_at, updated_at)
     SELECT $1, wanted.type, wanted.value, wanted.id, wanted.profile_id, $2, $3, $3 FROM wanted
     ORDER BY wanted.type, wanted.value
     ON CONFLICT (property_id, type, value) DO NOTHING
     RETURNING type, value, profile_id
   ), created AS (
     INSERT INTO profile.profiles (property_id, id, profile_ref, created_at, updated_at)
     SELECT $1, wanted.profile_id, CASE WHEN EXISTS (
       SELECT FROM profile.ref_properties WHERE property_id = $1 AND enabled
     ) THEN wanted.ref END, $3, $3
     FROM wanted JOIN added USING (profile_id)
     RETURNING id
   ), told AS (
     INSERT INTO profile.outbox (property_id, id, subject, payload)
     SELECT $1, wanted.message_id, $4, wanted.payload FROM wanted JOIN added USING (profile_id)
     RETURNING id
   )
   SELECT type, value, profile_id FROM added`,
  created,
);

/** Sets or clears the primary mark. */
export const markIdentifiers = statement<
  [property: Uuid, profile: Uuid, ids: readonly Uuid[], isPrimary: boolean, now: Instant]
>(
  "profile.identifiers.mark",
  `UPDATE profile.identifiers SET is_primary = $4, updated_at = $5
   WHERE property_id = $1 AND profile_id = $2 AND id = ANY($3::uuid[])`,
);

/** Moves all identifiers of a profile to another. */
export const moveIdentifiers = statement<
  [property: Uuid, from: Uuid, to: Uuid, typesWithPrimary: readonly string[], now: Instant]
>(
  "profile.identifiers.move",
  `UPDATE profile.identifiers SET profile_id = $3, is_primary = is_primary AND type <> ALL($4::text[]), updated_at = $5
   WHERE property_id = $1 AND profile_id = $2`,
);

export const deleteIdentifiers = statement<[property: Uuid, profile: Uuid, ids: readonly Uuid[] | null]>(
  "profile.identifiers.delete",
  `DELETE FROM profile.identifiers
   WHERE property_id = $1 AND profile_id = $2 AND ($3::uuid[] IS NULL OR id = ANY($3))`,
);
