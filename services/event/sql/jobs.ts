/** Jobs of events: what is still to be done of them. */
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** Lets one job of a property be made at a time. Held to the end of the transaction. */
export const lockJobs = statement<[property: Uuid]>(
  "event.jobs.lock",
  `SELECT pg_advisory_xact_lock(hashtextextended('daybook event jobs ' || $1::text, 0))`,
);

/** Counts jobs that are not finished, but no further than needed. */
export const countUnfinishedJobs = statement<[property: Uuid, countMax: number], { count: number }>(
  "event.jobs.count_unfinished",
  `SELECT count(*) AS count FROM (
     SELECT FROM event.jobs WHERE property_id = $1 AND completed_at IS NULL LIMIT $2
   ) AS unfinished`,
);

export const findJob = statement<[property: Uuid, id: Uuid], { id: Uuid }>(
  "event.jobs.find",
  `SELECT id FROM event.jobs WHERE property_id = $1 AND id = $2`,
);

/** Makes a job, without its chunks. */
export const insertJob = statement<[property: Uuid, id: Uuid, chunkCount: number, createdAt: Instant]>(
  "event.jobs.insert",
  "INSERT INTO event.jobs (property_id, id, chunk_count, created_at) VALUES ($1, $2, $3, $4)",
);

/** Adds a chunk; one at a time, as bytes within an array go to PostgreSQL as text. */
export const insertChunk = statement<[property: Uuid, job: Uuid, chunk: number, payload: Uint8Array]>(
  "event.jobs.insert_chunk",
  "INSERT INTO event.job_chunks (property_id, job_id, chunk, payload) VALUES ($1, $2, $3, $4)",
);

/** What is to be done of a chunk. Gives no row when it is done, or when the job is forgotten. */
export const readChunk = statement<[property: Uuid, job: Uuid, chunk: number], { payload: Buffer }>(
  "event.jobs.read_chunk",
  `SELECT payload FROM event.job_chunks
   WHERE property_id = $1 AND job_id = $2 AND chunk = $3 AND payload IS NOT NULL`,
);

/** Says that a chunk is done. Gives no row when somebody has said so. */
export const finishChunk = statement<[property: Uuid, job: Uuid, chunk: number], { chunk: number }>(
  "event.jobs.finish_chunk",
  `UPDATE event.job_chunks SET payload = NULL
   WHERE property_id = $1 AND job_id = $2 AND chunk = $3 AND payload IS NOT NULL
   RETURNING chunk`,
);

/** Says so of the job, once its last chunk is done. */
export const advanceJob = statement<[property: Uuid, id: Uuid, chunk: number, now: Instant], { has_next: boolean }>(
  "event.jobs.advance",
  `UPDATE event.jobs SET completed_at = CASE WHEN chunk_count <= $3::integer + 1 THEN $4::timestamptz END
   WHERE property_id = $1 AND id = $2
   RETURNING completed_at IS NULL AS has_next`,
);

/** Jobs whose time is over. */
export const findOldJobs = statement<[createdBefore: Instant, limit: number], { property_id: Uuid; id: Uuid }>(
  "event.jobs.find_old",
  `SELECT property_id, id FROM event.jobs WHERE created_at <= $1 ORDER BY created_at LIMIT $2`,
);

/** Deletes jobs with their chunks. */
export const deleteJobs = statement<[properties: readonly Uuid[], ids: readonly Uuid[]]>(
  "event.jobs.delete",
  `WITH old AS (
     SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS o (property_id, id)
   ), chunks AS (
     DELETE FROM event.job_chunks c USING old WHERE c.property_id = old.property_id AND c.job_id = old.id
   )
   DELETE FROM event.jobs j USING old WHERE j.property_id = old.property_id AND j.id = old.id`,
);
