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
  attributes: string;
  tags: string[];
  location: StoredLocation | null;
  merged_into: string | null;
  version: number;
  created_at: Micros;
  updated_at: Micros;
  identifiers: ProfileIdentifierRow[];
}

/** $1 property_id, $2 ids */
export const readProfiles = statement<ProfileRow>(
  "profile.profiles.read",
  `SELECT p.id, p.status, p.attributes, p.tags, p.location, p.merged_into, p.version, p.created_at, p.updated_at,
          (SELECT coalesce(jsonb_agg(to_jsonb(i) ORDER BY i.id), '[]') FROM (
             SELECT id, type, value, is_primary, verified_at, source, created_at, updated_at
             FROM profile.identifiers WHERE property_id = p.property_id AND profile_id = p.id
           ) i) AS identifiers
   FROM profile.profiles p WHERE p.property_id = $1 AND p.id = ANY($2::uuid[])`,
);

/** $1 property_id, $2 ids. Those that exist. */
export const findProfileIds = statement<{ id: string }>(
  "profile.profiles.find_ids",
  `SELECT id FROM profile.profiles WHERE property_id = $1 AND id = ANY($2::uuid[])`,
);

/** $1 property_id, $2 id. Holds off other writers until the end of the transaction. */
export const lockProfile = statement<{ attributes: string; location: StoredLocation | null }>(
  "profile.profiles.lock",
  `SELECT attributes, location FROM profile.profiles WHERE property_id = $1 AND id = $2 FOR UPDATE`,
);

/** $1 property_id, $2 id, $3 attributes, $4 location, $5 now */
export const insertProfile = statement(
  "profile.profiles.insert",
  `INSERT INTO profile.profiles (property_id, id, attributes, location, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $5)`,
);

/** $1 property_id, $2 id, $3 attributes, $4 location, $5 now */
export const updateProfile = statement(
  "profile.profiles.update",
  `UPDATE profile.profiles SET attributes = $3, location = $4, updated_at = $5, version = version + 1
   WHERE property_id = $1 AND id = $2`,
);

/** Answers if the schema is there. */
export const probe = statement("profile.profiles.probe", `SELECT FROM profile.profiles LIMIT 0`);
