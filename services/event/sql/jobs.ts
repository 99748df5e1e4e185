/** Jobs of events: what is still to be done of them. */
import { statement } from "#shared/database/postgres.ts";

/** Lets one job of a property be made at a time. Held to the end of the transaction. $1 property_id */
export const lockJobs = statement(
  "event.jobs.lock",
  `SELECT pg_advisory_xact_lock(hashtextextended('daybook event jobs ' || $1::text, 0))`,
);

/** Counts jobs that are not finished, but no further than needed. $1 property_id, $2 how far */
export const countUnfinishedJobs = statement<{ count: number }>(
  "event.jobs.count_unfinished",
  `SELECT count(*) AS count FROM (
     SELECT FROM event.jobs WHERE property_id = $1 AND completed_at IS NULL LIMIT $2
   ) AS unfinished`,
);

/** $1 property_id, $2 id */
export const findJob = statement<{ id: string }>(
  "event.jobs.find",
  `SELECT id FROM event.jobs WHERE property_id = $1 AND id = $2`,
);

/** Makes a job, without its chunks. $1 property_id, $2 id, $3 how many chunks it has, $4 created_at */
export const insertJob = statement(
  "event.jobs.insert",
  "INSERT INTO event.jobs (property_id, id, chunk_count, created_at) VALUES ($1, $2, $3, $4)",
);

/** Adds a chunk; one at a time, as bytes within an array go to PostgreSQL as text. $1 property_id, $2 job_id, $3 chunk, from 0 on, $4 payload */
export const insertChunk = statement(
  "event.jobs.insert_chunk",
  "INSERT INTO event.job_chunks (property_id, job_id, chunk, payload) VALUES ($1, $2, $3, $4)",
);

/** What is to be done of a chunk. Gives no row when it is done, or when the job is forgotten. $1 property_id, $2 job_id, $3 chunk */
export const readChunk = statement<{ payload: Buffer }>(
  "event.jobs.read_chunk",
  `SELECT payload FROM event.job_chunks
   WHERE property_id = $1 AND job_id = $2 AND chunk = $3 AND payload IS NOT NULL`,
);

/** Says that a chunk is done. Gives no row when somebody has said so. $1 property_id, $2 job_id, $3 chunk */
export const finishChunk = statement<{ chunk: number }>(
  "event.jobs.finish_chunk",
  `UPDATE event.job_chunks SET payload = NULL
   WHERE property_id = $1 AND job_id = $2 AND chunk = $3 AND payload IS NOT NULL
   RETURNING chunk`,
);

/** Says so of the job, once its last chunk is done. $1 property_id, $2 id, $3 chunk, $4 now */
export const advanceJob = statement<{ has_next: boolean }>(
  "event.jobs.advance",
  `UPDATE event.jobs SET completed_at = CASE WHEN chunk_count <= $3::integer + 1 THEN $4::timestamptz END
   WHERE property_id = $1 AND id = $2
   RETURNING completed_at IS NULL AS has_next`,
);

/** Jobs whose time is over. $1 made up to when, $2 how many */
export const findOldJobs = statement<{ property_id: string; id: string }>(
  "event.jobs.find_old",
  `SELECT property_id, id FROM event.jobs WHERE created_at <= $1 ORDER BY created_at LIMIT $2`,
);

/** Deletes jobs with their chunks. $1 property ids, $2 ids */
export const deleteJobs = statement(
  "event.jobs.delete",
  `WITH old AS (
     SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS o (property_id, id)
   ), chunks AS (
     DELETE FROM event.job_chunks c USING old WHERE c.property_id = old.property_id AND c.job_id = old.id
   )
   DELETE FROM event.jobs j USING old WHERE j.property_id = old.property_id AND j.id = old.id`,
);
