/** Profiles that import jobs wrote, and items that they refused. */
import { statement } from "#shared/database/postgres.ts";
import { jobErrorStatements } from "#shared/jobs/sql.ts";
import type { Uuid } from "#shared/values/ids.ts";

export const importErrors = jobErrorStatements("profile.import_errors");

export const insertImportedProfiles = statement<[property: Uuid, job: Uuid, profiles: readonly Uuid[]]>(
  "profile.imports.insert_profiles",
  `INSERT INTO profile.import_profiles (property_id, job_id, profile_id)
   SELECT DISTINCT $1::uuid, $2::uuid, p.id FROM unnest($3::uuid[]) AS p (id)
   ON CONFLICT DO NOTHING`,
);

export const listImportedProfiles = statement<
  [property: Uuid, job: Uuid, after: Uuid | null, limit: number],
  { profile_id: Uuid }
>(
  "profile.imports.list_profiles",
  `SELECT profile_id FROM profile.import_profiles
   WHERE property_id = $1 AND job_id = $2 AND ($3::uuid IS NULL OR profile_id > $3) ORDER BY profile_id LIMIT $4`,
);
