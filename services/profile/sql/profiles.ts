import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import type { StoredLocation } from "../domain/location.ts";
import { barredBySuppression } from "./suppressions.ts";

/** An identifier within a ProfileRow; its times are texts, because PostgreSQL returns it within JSON. */
export interface ProfileIdentifierRow {
  id: Uuid;
  type: string;
  value: string;
  is_primary: boolean;
  verified_at: Instant | null;
  source: string;
  created_at: Instant;
  updated_at: Instant;
}

/** A profile with its identifiers, oldest first, of one snapshot. */
export interface ProfileRow {
  id: Uuid;
  status: "active" | "merged" | "redacted";
  /** The text of a JSON object. */
  attributes: string;
  tags: string[];
  location: StoredLocation | null;
  merged_into: Uuid | null;
  version: number;
  /** Null if the property has no references. */
  profile_ref: string | null;
  created_at: Micros;
  updated_at: Micros;
  identifiers: ProfileIdentifierRow[];
}

/** The columns of a StoredProfileRow; `p` is the profile, and $1 its property. */
export const profileColumns = `
  p.id, p.status, p.attributes, p.tags, p.location, p.merged_into, p.version, p.created_at, p.updated_at,
  CASE WHEN p.profile_ref IS NOT NULL AND EXISTS (
    SELECT FROM profile.ref_properties r WHERE r.property_id = $1 AND r.enabled
  ) THEN p.profile_ref END AS profile_ref,
  (SELECT coalesce(json_agg(i ORDER BY i.id), '[]')::text FROM (
     SELECT id, type, value, is_primary, verified_at, source, created_at, updated_at
     FROM profile.identifiers WHERE property_id = $1 AND profile_id = p.id
   ) i) AS identifiers`;

/** A ProfileRow whose identifiers are JSON text. */
export type StoredProfileRow = Omit<ProfileRow, "identifiers"> & { identifiers: string };

/** Parses the identifiers. */
export function readRow(row: StoredProfileRow): ProfileRow {
  return { ...row, identifiers: JSON.parse(row.identifiers) as ProfileIdentifierRow[] };
}

/**
 * One look-up each (LATERAL with LIMIT 1), because without statistics `id = ANY(…)` used an index of the lists and
 * read all profiles of the property.
 */
export const readProfiles = statement<[property: Uuid, ids: readonly Uuid[]], StoredProfileRow>(
  "profile.profiles.read",
  `SELECT ${profileColumns}
   FROM unnest($2::uuid[]) AS wanted (id)
   CROSS JOIN LATERAL (SELECT * FROM profile.profiles WHERE property_id = $1 AND id = wanted.id LIMIT 1) p`,
);

const wanted = columns(2, { type: "text", value: "text" });

/** A profile, or an identifier that is suppressed. */
export type HolderRow =
  | (StoredProfileRow & { suppressed_type: null; suppressed_value: null })
  | { suppressed_type: string; suppressed_value: string };

/**
 * The profiles that have any of the identifiers, each once, and those of the identifiers that are suppressed. One
 * look-up each, as in identifiers.ts.
 */
export const readProfilesByIdentifiers = statement<[property: Uuid, identifiers: Rows<typeof wanted>], HolderRow>(
  "profile.profiles.read_by_identifiers",
  `SELECT ${profileColumns}, owners.suppressed_type, owners.suppressed_value
   FROM (
     SELECT DISTINCT i.profile_id, NULL::text AS suppressed_type, NULL::text AS suppressed_value
     FROM ${wanted.as("wanted")}
     CROSS JOIN LATERAL (
       SELECT profile_id FROM profile.identifiers
       WHERE property_id = $1 AND type = wanted.type AND value = wanted.value LIMIT 1
     ) i
     UNION ALL
     SELECT NULL, w.type, w.value FROM ${wanted.as("w")} ${barredBySuppression("w")}
   ) AS owners
   LEFT JOIN LATERAL (
     SELECT * FROM profile.profiles WHERE property_id = $1 AND id = owners.profile_id LIMIT 1
   ) p ON true
   WHERE p.id IS NOT NULL OR owners.suppressed_type IS NOT NULL`,
  wanted,
);

/** Reads the status and the survivor of profiles. */
export const findTargets = statement<
  [property: Uuid, ids: readonly Uuid[]],
  Pick<ProfileRow, "id" | "status" | "merged_into">
>(
  "profile.profiles.find_targets",
  `SELECT p.id, p.status, p.merged_into
   FROM unnest($2::uuid[]) AS wanted (id)
   CROSS JOIN LATERAL (
     SELECT id, status, merged_into FROM profile.profiles WHERE property_id = $1 AND id = wanted.id LIMIT 1
   ) p`,
);

/**
 * Locks a profile until the end of the transaction. Returns no row for a merged profile. If it was merged during the
 * wait it is locked all the same, and the transaction must end before it waits for another lock.
 */
export const lockProfile = statement<[property: Uuid, id: Uuid], { id: Uuid }>(
  "profile.profiles.lock",
  `SELECT id FROM profile.profiles WHERE property_id = $1 AND id = $2 AND status <> 'merged' FOR NO KEY UPDATE`,
);

const edits = columns(3, {
  id: "uuid",
  version: "bigint",
  new_version: "bigint",
  attributes: "json",
  location: "jsonb?",
  // A JSON array.
  tags: "jsonb",
  updated_at: "timestamptz",
});
const inserts = columns(edits.next, {
  id: "uuid",
  attributes: "json",
  location: "jsonb?",
  // Stored if the property has references.
  ref: "text",
  created_at: "timestamptz",
});
const identifiers = columns(inserts.next, {
  profile_id: "uuid",
  id: "uuid",
  type: "text",
  value: "text",
  is_primary: "boolean",
  source: "text",
  created_at: "timestamptz",
});
const messages = columns(identifiers.next, { profile_id: "uuid", id: "uuid", payload: "bytea" });

/**
 * Creates profiles, and edits profiles whose version is still the same, with new identifiers and outbox rows. Returns a
 * row for each written profile. Skips a profile that has changed or is locked. Fails when an identifier is held. Writes
 * nothing when an identifier is suppressed: the look-up of holders says so before, and this is for those that race.
 */
export const writeProfiles = statement<
  [
    property: Uuid,
    subject: string,
    edits: Rows<typeof edits>,
    inserts: Rows<typeof inserts>,
    identifiers: Rows<typeof identifiers>,
    messages: Rows<typeof messages>,
  ],
  { id: Uuid; profile_ref: string | null }
>(
  "profile.profiles.write",
  `WITH barred AS (
     SELECT FROM ${identifiers.as("b")} ${barredBySuppression("b")} LIMIT 1
   ), wanted AS (
     SELECT * FROM ${edits.as("w")} WHERE NOT EXISTS (SELECT FROM barred)
   ), held AS (
     SELECT p.id FROM wanted CROSS JOIN LATERAL (
       SELECT id FROM profile.profiles WHERE property_id = $1 AND id = wanted.id AND version = wanted.version
       FOR NO KEY UPDATE SKIP LOCKED
     ) p
   ), written AS (
     UPDATE profile.profiles p
     SET attributes = w.attributes, location = w.location, tags = ARRAY(SELECT jsonb_array_elements_text(w.tags)),
         updated_at = w.updated_at, version = w.new_version
     FROM wanted w
     WHERE p.property_id = $1 AND p.id = ANY(ARRAY(SELECT id FROM held)) AND p.id = w.id
     RETURNING p.id
   ), made AS (
     INSERT INTO profile.profiles (property_id, id, attributes, location, profile_ref, created_at, updated_at)
     SELECT $1, n.id, n.attributes, n.location, CASE WHEN EXISTS (
       SELECT FROM profile.ref_properties WHERE property_id = $1 AND enabled
     ) THEN n.ref END, n.created_at, n.created_at
     FROM ${inserts.as("n")} WHERE NOT EXISTS (SELECT FROM barred)
     RETURNING id, profile_ref
   ), done AS (
     SELECT id, profile_ref FROM made UNION ALL SELECT id, NULL FROM written
   ), added AS (
     INSERT INTO profile.identifiers (property_id, type, value, id, profile_id, is_primary, source, created_at, updated_at)
     SELECT $1, i.type, i.value, i.id, i.profile_id, i.is_primary, i.source, i.created_at, i.created_at
     FROM ${identifiers.as("i")}
     WHERE i.profile_id IN (SELECT id FROM done)
     ORDER BY i.type, i.value
     RETURNING id
   ), told AS (
     INSERT INTO profile.outbox (property_id, id, subject, payload)
     SELECT $1, m.id, $2, m.payload FROM ${messages.as("m")}
     WHERE m.profile_id IN (SELECT id FROM done)
     RETURNING id
   )
   SELECT id, profile_ref FROM done`,
  edits,
  inserts,
  identifiers,
  messages,
);

/** Redacts a profile whose version is still the same. Returns no row when it has changed. */
export const redactProfile = statement<
  [property: Uuid, id: Uuid, version: number, updatedAt: Instant],
  { version: number }
>(
  "profile.profiles.redact",
  `UPDATE profile.profiles
   SET status = 'redacted', attributes = '{}', location = NULL, tags = '{}', updated_at = $4, version = version + 1
   WHERE property_id = $1 AND id = $2 AND version = $3
   RETURNING version`,
);

/** Fails when the schema is missing. */
export const probe = statement<[]>("profile.profiles.probe", `SELECT FROM profile.profiles LIMIT 0`);
