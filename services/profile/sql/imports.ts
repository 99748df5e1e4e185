/** Import jobs: what is to be done of them, and what was. Times are given, so that they are of one clock. */
import type { Micros } from "#shared/values/clock.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** A row of profile.import_jobs. */
export interface ImportJobRow {
  id: Uuid;
  total_count: number;
  completed_count: number;
  failed_count: number;
  chunk_count: number;
  created_at: Micros;
  started_at: Micros | null;
  completed_at: Micros | null;
}

const columns = "id, total_count, completed_count, failed_count, chunk_count, created_at, started_at, completed_at";

/** Lets one job of a property be made at a time. Held to the end of the transaction. */
export const lockImports = statement<[property: Uuid]>(
  "profile.imports.lock",
  `SELECT pg_advisory_xact_lock(hashtextextended('daybook imports ' || $1::text, 0))`,
);

export const findImportJob = statement<[property: Uuid, id: Uuid, createdAfter: Instant], ImportJobRow>(
  "profile.imports.find",
  `SELECT ${columns} FROM profile.import_jobs WHERE property_id = $1 AND id = $2 AND created_at > $3`,
);

/** Counts jobs that are not finished, but no further than needed. */
export const countUnfinishedJobs = statement<
  [property: Uuid, createdAfter: Instant, countMax: number],
  { count: number }
>(
  "profile.imports.count_unfinished",
  `SELECT count(*) AS count FROM (
     SELECT FROM profile.import_jobs WHERE property_id = $1 AND completed_at IS NULL AND created_at > $2 LIMIT $3
   ) AS unfinished`,
);

/** Makes a job, without its chunks. Gives no row when there is one of that id. */
export const insertImportJob = statement<
  [property: Uuid, id: Uuid, totalCount: number, chunkCount: number, createdAt: Instant],
  ImportJobRow
>(
  "profile.imports.insert",
  `INSERT INTO profile.import_jobs (property_id, id, total_count, chunk_count, created_at)
   VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (property_id, id) DO NOTHING
   RETURNING ${columns}`,
);

/** Adds a chunk; one at a time, as bytes within an array go to PostgreSQL as text. */
export const insertChunk = statement<[property: Uuid, job: Uuid, chunk: number, payload: Uint8Array]>(
  "profile.imports.insert_chunk",
  "INSERT INTO profile.import_chunks (property_id, job_id, chunk, payload) VALUES ($1, $2, $3, $4)",
);

/** What is to be done of a chunk. Gives no row when it is done, or when the job is forgotten. */
export const readChunk = statement<[property: Uuid, job: Uuid, chunk: number], { payload: Buffer }>(
  "profile.imports.read_chunk",
  `SELECT payload FROM profile.import_chunks
   WHERE property_id = $1 AND job_id = $2 AND chunk = $3 AND payload IS NOT NULL`,
);

/** Says that a chunk is done. Gives no row when somebody has said so. */
export const finishChunk = statement<[property: Uuid, job: Uuid, chunk: number], { chunk: number }>(
  "profile.imports.finish_chunk",
  `UPDATE profile.import_chunks SET payload = NULL
   WHERE property_id = $1 AND job_id = $2 AND chunk = $3 AND payload IS NOT NULL
   RETURNING chunk`,
);

export const insertImportedProfiles = statement<[property: Uuid, job: Uuid, profiles: readonly Uuid[]]>(
  "profile.imports.insert_profiles",
  `INSERT INTO profile.import_profiles (property_id, job_id, profile_id)
   SELECT DISTINCT $1::uuid, $2::uuid, p.id FROM unnest($3::uuid[]) AS p (id)
   ON CONFLICT DO NOTHING`,
);

export const insertImportErrors = statement<readonly unknown[]>(
  "profile.imports.insert_errors",
  `INSERT INTO profile.import_errors (property_id, job_id, item, id, error, original_json)
   SELECT $1, $2, e.item, e.id, e.error, e.original
   FROM unnest($3::integer[], $4::uuid[], $5::bytea[], $6::text[]) AS e (item, id, error, original)`,
);

/**
 * Empties what came of refused items that name somebody. Values stand in them as they were sent: in any case, and
 * phones with separators. The values are as they stand within a JSON text, in lower case.
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

/** Counts what a chunk came to. */
export const advanceImportJob = statement<
  [property: Uuid, id: Uuid, completedCount: number, failedCount: number, now: Instant],
  ImportJobRow
>(
  "profile.imports.advance",
  `UPDATE profile.import_jobs
   SET completed_count = completed_count + $3, failed_count = failed_count + $4, started_at = coalesce(started_at, $5),
       completed_at = CASE WHEN completed_count + failed_count + $3 + $4 >= total_count THEN $5::timestamptz END
   WHERE property_id = $1 AND id = $2
   RETURNING ${columns}`,
);

/** Jobs that are not begun, under way and done, as far as each is wanted. */
const listOf = (name: string, comparison: string, direction: string) =>
  statement<
    [
      property: Uuid,
      createdAfter: Instant,
      isWaitingWanted: boolean,
      isUnderWayWanted: boolean,
      isDoneWanted: boolean,
      after: Uuid | null,
      limit: number,
    ],
    ImportJobRow
  >(
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

export const listImportedProfiles = statement<
  [property: Uuid, job: Uuid, after: Uuid | null, limit: number],
  { profile_id: Uuid }
>(
  "profile.imports.list_profiles",
  `SELECT profile_id FROM profile.import_profiles
   WHERE property_id = $1 AND job_id = $2 AND ($3::uuid IS NULL OR profile_id > $3) ORDER BY profile_id LIMIT $4`,
);

export const listImportErrors = statement<
  [property: Uuid, job: Uuid, afterItem: number, limit: number],
  { item: number; id: Uuid; error: Buffer; original_json: string }
>(
  "profile.imports.list_errors",
  `SELECT item, id, error, original_json FROM profile.import_errors
   WHERE property_id = $1 AND job_id = $2 AND item > $3 ORDER BY item LIMIT $4`,
);

/** Jobs whose time is over. */
export const findOldJobs = statement<[createdBefore: Instant, limit: number], { property_id: Uuid; id: Uuid }>(
  "profile.imports.find_old",
  `SELECT property_id, id FROM profile.import_jobs WHERE created_at <= $1 ORDER BY created_at LIMIT $2`,
);

/** One row for each. */
const deleteOf = (table: string) =>
  statement<[property: Uuid, job: Uuid, rowsMax: number], { gone: boolean }>(
    `profile.imports.delete_${table}`,
    `DELETE FROM profile.${table} WHERE ctid = ANY(ARRAY(
       SELECT ctid FROM profile.${table} WHERE property_id = $1 AND job_id = $2 LIMIT $3 FOR UPDATE
     )) RETURNING true AS gone`,
  );

/** What a job leaves behind, in the order in which it goes: without its chunk nobody adds to the rest. */
export const deletePartsOfJob = [deleteOf("import_chunks"), deleteOf("import_errors"), deleteOf("import_profiles")];

export const deleteImportJob = statement<[property: Uuid, id: Uuid]>(
  "profile.imports.delete",
  `DELETE FROM profile.import_jobs WHERE property_id = $1 AND id = $2`,
);
