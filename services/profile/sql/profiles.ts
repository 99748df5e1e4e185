import { statement } from "#shared/postgres.ts";
import type { Micros } from "#shared/clock.ts";
import type { StoredLocation } from "../domain/location.ts";

/** An identifier within a ProfileRow; its times are ISO 8601 text, as PostgreSQL writes them into JSON. */
export interface ProfileIdentifierRow {
  id: string;
  type: string;
  value: string;
  is_primary: boolean;
  verified_at: string | null;
  source: string;
  created_at: string;
  updated_at: string;
}

/** A profile with its identifiers, oldest first, all of one instant. */
export interface ProfileRow {
  id: string;
  status: "active" | "merged" | "redacted";
  /** The text of a JSON object. */
  attributes: string;
  tags: string[];
  location: StoredLocation | null;
  merged_into: string | null;
  version: number;
  /** Null where the property has none. */
  profile_ref: string | null;
  created_at: Micros;
  updated_at: Micros;
  identifiers: ProfileIdentifierRow[];
}

/** The columns of a ProfileRow; `p` is the profile. */
export const profileColumns = `
  p.id, p.status, p.attributes, p.tags, p.location, p.merged_into, p.version, p.created_at, p.updated_at,
  CASE WHEN p.profile_ref IS NOT NULL AND EXISTS (
    SELECT FROM profile.ref_properties r WHERE r.property_id = p.property_id AND r.enabled
  ) THEN p.profile_ref END AS profile_ref,
  (SELECT coalesce(json_agg(i ORDER BY i.id), '[]')::text FROM (
     SELECT id, type, value, is_primary, verified_at, source, created_at, updated_at
     FROM profile.identifiers WHERE property_id = p.property_id AND profile_id = p.id
   ) i) AS identifiers`;

/** A ProfileRow as it comes. */
export type StoredProfileRow = Omit<ProfileRow, "identifiers"> & { identifiers: string };

/** Identifiers come as text, which is read here. */
export function readRow(row: StoredProfileRow): ProfileRow {
  return { ...row, identifiers: JSON.parse(row.identifiers) as ProfileIdentifierRow[] };
}

/**
 * $1 property_id, $2 ids, each once.
 * One look-up each (LATERAL with LIMIT 1): with `id = ANY(…)` an index of the lists was taken while the table had no statistics, and all
 * profiles of the property were read.
 */
export const readProfiles = statement<StoredProfileRow>(
  "profile.profiles.read",
  `SELECT ${profileColumns}
   FROM unnest($2::uuid[]) AS wanted (id)
   CROSS JOIN LATERAL (SELECT * FROM profile.profiles WHERE property_id = $1 AND id = wanted.id LIMIT 1) p`,
);

/**
 * The profiles that have any of some identifiers, each once. $1 property_id, $2 types, $3 values.
 * One look-up for each, as in identifiers.ts.
 */
export const readProfilesByIdentifiers = statement<StoredProfileRow>(
  "profile.profiles.read_by_identifiers",
  `SELECT ${profileColumns}
   FROM (
     SELECT DISTINCT i.profile_id
     FROM unnest($2::text[], $3::text[]) AS wanted (type, value)
     CROSS JOIN LATERAL (
       SELECT profile_id FROM profile.identifiers
       WHERE property_id = $1 AND type = wanted.type AND value = wanted.value LIMIT 1
     ) i
   ) AS owners
   CROSS JOIN LATERAL (SELECT * FROM profile.profiles WHERE property_id = $1 AND id = owners.profile_id LIMIT 1) p`,
);

/** $1 property_id, $2 ids. What an event that names a profile needs to know of it. */
export const findTargets = statement<Pick<ProfileRow, "id" | "status" | "merged_into">>(
  "profile.profiles.find_targets",
  `SELECT p.id, p.status, p.merged_into
   FROM unnest($2::uuid[]) AS wanted (id)
   CROSS JOIN LATERAL (
     SELECT id, status, merged_into FROM profile.profiles WHERE property_id = $1 AND id = wanted.id LIMIT 1
   ) p`,
);

/** $1 property_id, $2 ids. Holds off other writers until the end of the transaction; in the order of ids, so that nobody waits in a circle. */
export const lockProfiles = statement(
  "profile.profiles.lock",
  `SELECT FROM profile.profiles WHERE property_id = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR NO KEY UPDATE`,
);

/**
 * Makes a profile with its identifiers and what is told of it. Fails when anybody has one of the identifiers.
 * $1 property_id, $2 id, $3 attributes, $4 location, $5 profile_ref, if the property has them, $6 now, $7 source; then a column of the
 * identifiers each: $8 id, $9 type, $10 value, $11 is_primary; $12 outbox id, $13 subject, $14 payload.
 */
export const insertProfile = statement<{ profile_ref: string | null }>(
  "profile.profiles.insert",
  `WITH created AS (
     INSERT INTO profile.profiles (property_id, id, attributes, location, profile_ref, created_at, updated_at)
     VALUES ($1, $2, $3, $4, CASE WHEN EXISTS (
       SELECT FROM profile.ref_properties WHERE property_id = $1 AND enabled
     ) THEN $5 END, $6, $6)
     RETURNING profile_ref
   ), added AS (
     INSERT INTO profile.identifiers (property_id, type, value, id, profile_id, is_primary, source, created_at, updated_at)
     SELECT $1, w.type, w.value, w.id, $2, w.is_primary, $7, $6, $6
     FROM unnest($8::uuid[], $9::text[], $10::text[], $11::boolean[]) AS w (id, type, value, is_primary)
     ORDER BY w.type, w.value
   ), told AS (
     INSERT INTO profile.outbox (property_id, id, subject, payload) VALUES ($1, $12, $13, $14)
   )
   SELECT profile_ref FROM created`,
);

/**
 * Writes to a profile that is as it was read, with identifiers that nobody has and what is told of it. Gives no row when it has changed
 * meanwhile, and then nothing is written.
 * $1 property_id, $2 id, $3 version, $4 attributes, $5 location, $6 tags, $7 updated_at, $8 source, $9 now; then a column of the
 * identifiers each: $10 id, $11 type, $12 value, $13 is_primary; then of the outbox: $14 id, $15 payload; $16 subject.
 */
export const updateProfile = statement<{ version: number }>(
  "profile.profiles.update",
  `WITH written AS (
     UPDATE profile.profiles
     SET attributes = $4, location = $5, tags = $6, updated_at = $7, version = version + 1
     WHERE property_id = $1 AND id = $2 AND version = $3
     RETURNING version
   ), added AS (
     INSERT INTO profile.identifiers (property_id, type, value, id, profile_id, is_primary, source, created_at, updated_at)
     SELECT $1, w.type, w.value, w.id, $2, w.is_primary, $8, $9, $9
     FROM written, unnest($10::uuid[], $11::text[], $12::text[], $13::boolean[]) AS w (id, type, value, is_primary)
     ORDER BY w.type, w.value
   ), told AS (
     INSERT INTO profile.outbox (property_id, id, subject, payload)
     SELECT $1, o.id, $16, o.payload FROM written, unnest($14::uuid[], $15::bytea[]) AS o (id, payload)
   )
   SELECT version FROM written`,
);

/** Empties a profile that is as it was read. Gives no row when it has changed meanwhile. $1 property_id, $2 id, $3 version, $4 updated_at */
export const redactProfile = statement<{ version: number }>(
  "profile.profiles.redact",
  `UPDATE profile.profiles
   SET status = 'redacted', attributes = '{}', location = NULL, tags = '{}', updated_at = $4, version = version + 1
   WHERE property_id = $1 AND id = $2 AND version = $3
   RETURNING version`,
);

/** Answers if the schema is there. */
export const probe = statement("profile.profiles.probe", `SELECT FROM profile.profiles LIMIT 0`);
