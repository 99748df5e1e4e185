/** The statements of jobs. Times are parameters, so that one clock makes them all. */
import type { Micros } from "../values/clock.ts";
import { columns, type Rows } from "../database/columns.ts";
import { plannedStatement, statement } from "../database/postgres.ts";
import type { Uuid } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";

/** A job and its progress. */
export interface JobRow {
  property_id: Uuid;
  id: Uuid;
  total_count: number;
  completed_count: number;
  failed_count: number;
  created_at: Micros;
  /** When its first chunk was finished. */
  started_at: Micros | null;
  completed_at: Micros | null;
}

/** An item that was refused. */
export interface JobErrorRow {
  /** The index of the item in the job, from 0. */
  item: number;
  id: Uuid;
  /** A serialised daybook.common.v1.Error. */
  error: Buffer;
  /** The item as the caller sent it. */
  original_json: string;
}

const jobColumns = "property_id, id, total_count, completed_count, failed_count, created_at, started_at, completed_at";

/**
 * Makes the statements of one kind of job. Tables of results must reference `jobs` with ON DELETE CASCADE, as `chunks`
 * does, so that they are deleted with their job.
 * @param tables the names of the tables, with their schema.
 */
export function jobStatements(tables: { jobs: string; chunks: string }) {
  const { jobs, chunks } = tables;
  const named = (name: string): string => `${jobs}.${name}`;
  const list = (name: string, comparison: string, direction: string) =>
    statement<
      [
        property: Uuid,
        createdAfter: Instant,
        isQueuedWanted: boolean,
        isProcessingWanted: boolean,
        isCompleteWanted: boolean,
        after: Uuid | null,
        limit: number,
      ],
      JobRow
    >(
      named(name),
      `SELECT ${jobColumns} FROM ${jobs}
       WHERE property_id = $1 AND created_at > $2 AND ($6::uuid IS NULL OR id ${comparison} $6)
         AND CASE
           WHEN started_at IS NULL THEN $3::boolean WHEN completed_at IS NULL THEN $4::boolean ELSE $5::boolean
         END
       ORDER BY id ${direction} LIMIT $7`,
    );
  return {
    /** Locks the creation of jobs of a property until the end of the transaction. */
    lock: statement<[property: Uuid]>(
      named("lock"),
      `SELECT pg_advisory_xact_lock(hashtextextended('daybook ${jobs} ' || $1::text, 0))`,
    ),
    find: statement<[property: Uuid, id: Uuid, createdAfter: Instant], JobRow>(
      named("find"),
      `SELECT ${jobColumns} FROM ${jobs} WHERE property_id = $1 AND id = $2 AND created_at > $3`,
    ),
    listAscending: list("list_ascending", ">", "ASC"),
    listDescending: list("list_descending", "<", "DESC"),
    /** Counts unfinished jobs up to a maximum. */
    countUnfinished: statement<[property: Uuid, createdAfter: Instant, countMax: number], { count: number }>(
      named("count_unfinished"),
      `SELECT count(*) AS count FROM (
         SELECT FROM ${jobs} WHERE property_id = $1 AND completed_at IS NULL AND created_at > $2 LIMIT $3
       ) AS unfinished`,
    ),
    /** Creates a job without its chunks. Returns no row when there is one of that id. */
    insert: statement<[property: Uuid, id: Uuid, totalCount: number, createdAt: Instant], JobRow>(
      named("insert"),
      `INSERT INTO ${jobs} (property_id, id, total_count, created_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (property_id, id) DO NOTHING
       RETURNING ${jobColumns}`,
    ),
    /** Adds one chunk. Not an array of chunks, because PostgreSQL gets the bytes within an array as text. */
    insertChunk: statement<[property: Uuid, job: Uuid, chunk: number, payload: Uint8Array]>(
      named("insert_chunk"),
      `INSERT INTO ${chunks} (property_id, job_id, chunk, payload) VALUES ($1, $2, $3, $4)`,
    ),
    /** Reads the items of a chunk. Returns no row when it is finished, or when the job is deleted. */
    readChunk: statement<[property: Uuid, job: Uuid, chunk: number], { payload: Buffer }>(
      named("read_chunk"),
      `SELECT payload FROM ${chunks} WHERE property_id = $1 AND job_id = $2 AND chunk = $3 AND payload IS NOT NULL`,
    ),
    /** The next chunk of a property that is not finished, by job and number. */
    nextOpenChunk: statement<[property: Uuid, afterJob: Uuid, afterChunk: number], { job_id: Uuid; chunk: number }>(
      named("next_open_chunk"),
      `SELECT open.job_id, open.chunk
       FROM (
         SELECT id FROM ${jobs} WHERE property_id = $1 AND completed_at IS NULL AND id >= $2 ORDER BY id
       ) AS job
       CROSS JOIN LATERAL (
         SELECT job_id, chunk FROM ${chunks}
         WHERE property_id = $1 AND job_id = job.id AND (job_id, chunk) > ($2, $3) AND payload IS NOT NULL
         ORDER BY chunk LIMIT 1
       ) AS open
       LIMIT 1`,
    ),
    /** Locks a chunk that is not finished. */
    lockChunk: statement<[property: Uuid, job: Uuid, chunk: number], { payload: Buffer }>(
      named("lock_chunk"),
      `SELECT payload FROM ${chunks}
       WHERE property_id = $1 AND job_id = $2 AND chunk = $3 AND payload IS NOT NULL FOR UPDATE`,
    ),
    /** Replaces the items of a locked chunk. */
    rewriteChunk: statement<[property: Uuid, job: Uuid, chunk: number, payload: Uint8Array]>(
      named("rewrite_chunk"),
      `UPDATE ${chunks} SET payload = $4 WHERE property_id = $1 AND job_id = $2 AND chunk = $3`,
    ),
    /**
     * Finishes a chunk and counts its items. Returns no row when it was finished before. Locks the job before the
     * chunk, in the order of deleteOld, so that the two cannot deadlock.
     */
    finishChunk: statement<
      [property: Uuid, job: Uuid, chunk: number, completedCount: number, failedCount: number, now: Instant],
      { has_next: boolean }
    >(
      named("finish_chunk"),
      `WITH finished AS (
         UPDATE ${chunks} SET payload = NULL
         FROM (SELECT FROM ${jobs} WHERE property_id = $1 AND id = $2 FOR UPDATE) AS job
         WHERE property_id = $1 AND job_id = $2 AND chunk = $3 AND payload IS NOT NULL
         RETURNING chunk
       )
       UPDATE ${jobs}
       SET completed_count = completed_count + $4, failed_count = failed_count + $5,
           started_at = coalesce(started_at, $6),
           completed_at = CASE WHEN completed_count + failed_count + $4 + $5 >= total_count THEN $6::timestamptz END
       FROM finished WHERE property_id = $1 AND id = $2
       RETURNING completed_at IS NULL AS has_next`,
    ),
    /** Finds the oldest jobs of all properties. */
    findOld: plannedStatement<[createdUpTo: Instant, limit: number], { property_id: Uuid; id: Uuid }>(
      `SELECT property_id, id FROM ${jobs} WHERE created_at <= $1 ORDER BY created_at LIMIT $2`,
    ),
    /** Deletes old jobs with their chunks and results. Skips locked ones. Returns one row for each. */
    deleteOld: statement<[property: Uuid, createdUpTo: Instant, ids: readonly Uuid[]], { id: Uuid }>(
      named("delete_old"),
      `DELETE FROM ${jobs} WHERE property_id = $1 AND id = ANY(ARRAY(
         SELECT old.id
         FROM unnest($3::uuid[]) AS wanted (id)
         CROSS JOIN LATERAL (
           SELECT id, created_at FROM ${jobs} WHERE property_id = $1 AND id = wanted.id LIMIT 1 FOR UPDATE SKIP LOCKED
         ) AS old
         WHERE old.created_at <= $2
       )) RETURNING id`,
    ),
  };
}

export type JobStatements = ReturnType<typeof jobStatements>;

const errorColumns = columns(3, { item: "integer", id: "uuid", error: "bytea", original_json: "text" });

const emptiedColumns = columns(2, { job_id: "uuid", item: "integer", error: "bytea" });
const itemColumns = columns(2, { job_id: "uuid", item: "integer" });

/** Makes the statements of a table of refused items. */
export function jobErrorStatements(table: string) {
  return {
    /** A page of the items of all jobs, and how long they are. */
    pageAll: statement<
      [property: Uuid, afterJob: Uuid, afterItem: number, rowsMax: number],
      { job_id: Uuid; item: number; bytes: number }
    >(
      `${table}.page_all`,
      `SELECT job_id, item, octet_length(original_json) AS bytes FROM ${table}
       WHERE property_id = $1 AND (job_id, item) > ($2, $3) ORDER BY job_id, item LIMIT $4`,
    ),
    read: statement<
      [property: Uuid, items: Rows<typeof itemColumns>],
      { job_id: Uuid; item: number; error: Buffer; original_json: string }
    >(
      `${table}.read`,
      `SELECT e.job_id, e.item, e.error, e.original_json
       FROM ${itemColumns.as("w")}
       CROSS JOIN LATERAL (
         SELECT job_id, item, error, original_json FROM ${table}
         WHERE property_id = $1 AND job_id = w.job_id AND item = w.item LIMIT 1
       ) e`,
      itemColumns,
    ),
    /** Empties items, and replaces their errors. Returns one row for each. */
    emptyItems: statement<[property: Uuid, items: Rows<typeof emptiedColumns>], { item: number }>(
      `${table}.empty_items`,
      `UPDATE ${table} AS e
       SET original_json = CASE WHEN e.original_json LIKE '"%' THEN '""' ELSE '{}' END, error = n.error
       FROM ${emptiedColumns.as("n")}
       WHERE e.property_id = $1 AND e.job_id = n.job_id AND e.item = n.item
       RETURNING e.item`,
      emptiedColumns,
    ),
    insert: statement<[property: Uuid, job: Uuid, errors: Rows<typeof errorColumns>]>(
      `${table}.insert`,
      `INSERT INTO ${table} (property_id, job_id, item, id, error, original_json)
       SELECT $1, $2, e.item, e.id, e.error, e.original_json FROM ${errorColumns.as("e")}
       RETURNING item`,
      errorColumns,
    ),
    list: statement<[property: Uuid, job: Uuid, afterItem: number, limit: number], JobErrorRow>(
      `${table}.list`,
      `SELECT item, id, error, original_json FROM ${table}
       WHERE property_id = $1 AND job_id = $2 AND item > $3 ORDER BY item LIMIT $4`,
    ),
  };
}

/** The statements of a table of refused items. */
export type JobErrorStatements = ReturnType<typeof jobErrorStatements>;
