/** Import jobs: what is to be done of them, and what was. Times are given, so that they are of one clock. */
import type { Micros } from "#shared/values/clock.ts";
import { statement } from "#shared/database/postgres.ts";

/** A row of profile.import_jobs. */
export interface ImportJobRow {
  id: string;
  total_count: number;
  completed_count: number;
  failed_count: number;
  chunk_count: number;
  created_at: Micros;
  started_at: Micros | null;
  completed_at: Micros | null;
}

const columns = "id, total_count, completed_count, failed_count, chunk_count, created_at, started_at, completed_at";

/** Lets one job of a property be made at a time. Held to the end of the transaction. $1 property_id */
export const lockImports = statement(
  "profile.imports.lock",
  `SELECT pg_advisory_xact_lock(hashtextextended('daybook imports ' || $1::text, 0))`,
);

/** $1 property_id, $2 id, $3 made after when */
export const findImportJob = statement<ImportJobRow>(
  "profile.imports.find",
  `SELECT ${columns} FROM profile.import_jobs WHERE property_id = $1 AND id = $2 AND created_at > $3`,
);

/** Counts jobs that are not finished, but no further than needed. $1 property_id, $2 made after when, $3 how far */
export const countUnfinishedJobs = statement<{ count: number }>(
  "profile.imports.count_unfinished",
  `SELECT count(*) AS count FROM (
     SELECT FROM profile.import_jobs WHERE property_id = $1 AND completed_at IS NULL AND created_at > $2 LIMIT $3
   ) AS unfinished`,
);

/** Makes a job, without its chunks. Gives no row when there is one of that id. $1 property_id, $2 id, $3 items, $4 chunks, $5 created_at */
export const insertImportJob = statement<ImportJobRow>(
  "profile.imports.insert",
  `INSERT INTO profile.import_jobs (property_id, id, total_count, chunk_count, created_at)
   VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (property_id, id) DO NOTHING
   RETURNING ${columns}`,
);

/** Adds a chunk; one at a time, as bytes within an array go to PostgreSQL as text. $1 property_id, $2 job_id, $3 chunk, from 0 on, $4 payload */
export const insertChunk = statement(
  "profile.imports.insert_chunk",
  "INSERT INTO profile.import_chunks (property_id, job_id, chunk, payload) VALUES ($1, $2, $3, $4)",
);

/** What is to be done of a chunk. Gives no row when it is done, or when the job is forgotten. $1 property_id, $2 job_id, $3 chunk */
export const readChunk = statement<{ payload: Buffer }>(
  "profile.imports.read_chunk",
  `SELECT payload FROM profile.import_chunks
   WHERE property_id = $1 AND job_id = $2 AND chunk = $3 AND payload IS NOT NULL`,
);

/** Says that a chunk is done. Gives no row when somebody has said so. $1 property_id, $2 job_id, $3 chunk */
export const finishChunk = statement<{ chunk: number }>(
  "profile.imports.finish_chunk",
  `UPDATE profile.import_chunks SET payload = NULL
   WHERE property_id = $1 AND job_id = $2 AND chunk = $3 AND payload IS NOT NULL
   RETURNING chunk`,
);

/** $1 property_id, $2 job_id, $3 profile ids */
export const insertImportedProfiles = statement(
  "profile.imports.insert_profiles",
  `INSERT INTO profile.import_profiles (property_id, job_id, profile_id)
   SELECT DISTINCT $1::uuid, $2::uuid, p.id FROM unnest($3::uuid[]) AS p (id)
   ON CONFLICT DO NOTHING`,
);

/** $1 property_id, $2 job_id, $3 items, $4 ids, $5 errors, $6 what came */
export const insertImportErrors = statement(
  "profile.imports.insert_errors",
  `INSERT INTO profile.import_errors (property_id, job_id, item, id, error, original_json)
   SELECT $1, $2, e.item, e.id, e.error, e.original
   FROM unnest($3::integer[], $4::uuid[], $5::bytea[], $6::text[]) AS e (item, id, error, original)`,
);

/**
 * Empties what came of refused items that name somebody. Values stand in them as they were sent: in any case, and phones with separators.
 * $1 property_id, $2 values as they stand within a JSON text, in lower case, $3 phones
 */
export const emptyImportErrors = statement(
  "profile.imports.empty_errors",
  `UPDATE profile.import_errors SET original_json = '{}'
   WHERE property_id = $1 AND (
     EXISTS (SELECT FROM unnest($2::text[]) AS v (value) WHERE strpos(lower(original_json), v.value) > 0)
     OR EXISTS (
       SELECT FROM unnest($3::text[]) AS v (value) WHERE strpos(regexp_replace(original_json, '[\\s().-]', '', 'g'), v.value) > 0
     )
   )`,
);

/** Counts what a chunk came to. $1 property_id, $2 id, $3 how many more were written, $4 how many more were refused, $5 now */
export const advanceImportJob = statement<ImportJobRow>(
  "profile.imports.advance",
  `UPDATE profile.import_jobs
   SET completed_count = completed_count + $3, failed_count = failed_count + $4, started_at = coalesce(started_at, $5),
       completed_at = CASE WHEN completed_count + failed_count + $3 + $4 >= total_count THEN $5::timestamptz END
   WHERE property_id = $1 AND id = $2
   RETURNING ${columns}`,
);

/**
 * $1 property_id, $2 made after when, $3 whether those that nothing is done of, $4 that something is done of, $5 that all is done of are wanted,
 * $6 id behind which, or null, $7 how many
 */
const listOf = (name: string, comparison: string, direction: string) =>
  statement<ImportJobRow>(
    name,
    `SELECT ${columns} FROM profile.import_jobs
     WHERE property_id = $1 AND created_at > $2 AND ($6::uuid IS NULL OR id ${comparison} $6)
       AND CASE WHEN started_at IS NULL THEN $3::boolean WHEN completed_at IS NULL THEN $4::boolean ELSE $5::boolean END
     ORDER BY id ${direction} LIMIT $7`,
  );

/** Lists of jobs in both directions; see listOf. */
export const listImportJobs = {
  ascending: listOf("profile.imports.list_ascending", ">", "ASC"),
  descending: listOf("profile.imports.list_descending", "<", "DESC"),
};

/** $1 property_id, $2 job_id, $3 id behind which, or null, $4 how many */
export const listImportedProfiles = statement<{ profile_id: string }>(
  "profile.imports.list_profiles",
  `SELECT profile_id FROM profile.import_profiles
   WHERE property_id = $1 AND job_id = $2 AND ($3::uuid IS NULL OR profile_id > $3) ORDER BY profile_id LIMIT $4`,
);

/** $1 property_id, $2 job_id, $3 item behind which, $4 how many */
export const listImportErrors = statement<{ item: number; id: string; error: Buffer; original_json: string }>(
  "profile.imports.list_errors",
  `SELECT item, id, error, original_json FROM profile.import_errors
   WHERE property_id = $1 AND job_id = $2 AND item > $3 ORDER BY item LIMIT $4`,
);

/** Jobs whose time is over. $1 made up to when, $2 how many */
export const findOldJobs = statement<{ property_id: string; id: string }>(
  "profile.imports.find_old",
  `SELECT property_id, id FROM profile.import_jobs WHERE created_at <= $1 ORDER BY created_at LIMIT $2`,
);

/** $1 property_id, $2 job_id, $3 rows at most. One row for each. */
const deleteOf = (table: string) =>
  statement<{ gone: boolean }>(
    `profile.imports.delete_${table}`,
    `DELETE FROM profile.${table} WHERE ctid = ANY(ARRAY(
       SELECT ctid FROM profile.${table} WHERE property_id = $1 AND job_id = $2 LIMIT $3 FOR UPDATE
     )) RETURNING true AS gone`,
  );

/** What a job leaves behind, in the order in which it goes: without its chunk nobody adds to the rest. */
export const deletePartsOfJob = [deleteOf("import_chunks"), deleteOf("import_errors"), deleteOf("import_profiles")];

/** $1 property_id, $2 id */
export const deleteImportJob = statement(
  "profile.imports.delete",
  `DELETE FROM profile.import_jobs WHERE property_id = $1 AND id = $2`,
);
