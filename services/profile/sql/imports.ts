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

/**
 * Empties refused items that contain any of the values. Items are stored as sent: in any case, and phones with
 * separators. So `values` are escaped as in JSON text, and in lower case.
 */
export const emptyImportErrors = statement<[property: Uuid, values: readonly string[], phones: readonly string[]]>(
  "profile.imports.empty_errors",
  `UPDATE profile.import_errors SET original_json = '{}'
   WHERE property_id = $1 AND (
     EXISTS (SELECT FROM unnest($2::text[]) AS v (value) WHERE strpos(lower(original_json), v.value) > 0)
     OR EXISTS (
       SELECT FROM unnest($3::text[]) AS v (value) WHERE strpos(regexp_replace(original_json, '[\\s().-]', '', 'g'), v.value) > 0
     )
   )`,
);

export const listImportedProfiles = statement<
  [property: Uuid, job: Uuid, after: Uuid | null, limit: number],
  { profile_id: Uuid }
>(
  "profile.imports.list_profiles",
  `SELECT profile_id FROM profile.import_profiles
   WHERE property_id = $1 AND job_id = $2 AND ($3::uuid IS NULL OR profile_id > $3) ORDER BY profile_id LIMIT $4`,
);
