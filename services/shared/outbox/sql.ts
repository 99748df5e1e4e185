/**
 * The statements of an outbox. A pending row has no sequence; a published row has the epoch and the sequence of its
 * message. The relay finds rows by two partial indexes, and bounded steps skip rows that another process has locked.
 * Payloads are large, so only a rewrite updates them.
 *
 * Steps write to the rows that an index found, by ctid. They are planned each time: a plan cached while the table was
 * small would scan or sort all of it later.
 */
import { plannedStatement, statement } from "../database/postgres.ts";
import type { Uuid } from "../values/ids.ts";

/** Rows of one round of the relay. */
export const outboxTakeRowsMax = 64;
/** Rows of one step of a bulk change. */
export const outboxStepRowsMax = 1_000;
/** Rows of one page of a rewrite. */
export const outboxRewriteRowsMax = 500;
const failuresShownMax = 20;

/** The published rows of a subject in one epoch. */
export interface PublishedSubject {
  subject: string;
  epoch: string;
  /** The highest sequence of the rows. */
  last_sequence: number;
}

/** A row whose message failed to publish. */
export interface FailingRow {
  id: Uuid;
  subject: string;
  attempts: number;
  failure: string;
}

/** The rows of an outbox, and the bytes of their messages. */
export interface OutboxSize {
  waiting: number;
  published: number;
  bytes: number;
}

export function outboxStatements(schema: string) {
  const table = `${schema}.outbox`;
  const named = (name: string): string => `${table}.${name}`;
  return {
    enqueue: statement<[property: Uuid, id: Uuid, subject: string, payload: Uint8Array]>(
      named("enqueue"),
      `INSERT INTO ${table} (property_id, id, subject, payload) VALUES ($1, $2, $3, $4)`,
    ),
    /** Locks due rows, the oldest first. */
    take: plannedStatement<[], { id: Uuid; subject: string; payload: Buffer }>(
      `SELECT id, subject, payload FROM ${table} WHERE sequence IS NULL AND available_at <= now()
       ORDER BY id LIMIT ${outboxTakeRowsMax} FOR UPDATE SKIP LOCKED`,
    ),
    /** Deletes pending rows. */
    remove: statement<[ids: readonly Uuid[]]>(
      named("remove"),
      `DELETE FROM ${table} WHERE id = ANY($1::uuid[]) AND sequence IS NULL`,
    ),
    /** Marks pending rows as published, with their places. */
    note: statement<[ids: readonly Uuid[], epoch: string, sequences: readonly number[]]>(
      named("note"),
      `UPDATE ${table} SET epoch = $2, sequence = ($3::bigint[])[array_position($1::uuid[], id)],
         attempts = 0, failure = NULL, available_at = clock_timestamp()
       WHERE id = ANY($1::uuid[]) AND sequence IS NULL`,
    ),
    /** Postpones failed rows by 0.5 s, and twice as long with each attempt, up to 30 s. */
    postpone: statement<[ids: readonly Uuid[], failures: readonly string[]]>(
      named("postpone"),
      `UPDATE ${table} SET attempts = attempts + 1, failure = ($2::text[])[array_position($1::uuid[], id)],
         available_at = clock_timestamp() + least(30, 0.5 * 2 ^ least(attempts, 10)) * interval '1 second'
       WHERE id = ANY($1::uuid[]) AND sequence IS NULL`,
    ),
    skipDiskWait: statement<[]>(named("skip_disk_wait"), "SET LOCAL synchronous_commit = off"),

    /** Lists the subjects and epochs of published rows with one index lookup for each (a loose index scan). */
    publishedSubjects: statement<[], PublishedSubject>(
      named("published_subjects"),
      `WITH RECURSIVE seen AS (
         (SELECT subject, epoch FROM ${table} WHERE sequence IS NOT NULL ORDER BY subject, epoch LIMIT 1)
         UNION ALL
         SELECT following.subject, following.epoch
         FROM seen CROSS JOIN LATERAL (
           SELECT subject, epoch FROM ${table}
           WHERE sequence IS NOT NULL AND (subject, epoch) > (seen.subject, seen.epoch)
           ORDER BY subject, epoch LIMIT 1
         ) following
       )
       SELECT seen.subject, seen.epoch, highest.sequence AS last_sequence
       FROM seen CROSS JOIN LATERAL (
         SELECT sequence FROM ${table}
         WHERE sequence IS NOT NULL AND subject = seen.subject AND epoch = seen.epoch
         ORDER BY sequence DESC LIMIT 1
       ) highest`,
    ),
    /** Deletes published rows of one epoch, up to a sequence for each subject. */
    removeTaken: plannedStatement<
      [subjects: readonly string[], upTo: readonly number[], epoch: string, rowsOfEachMax: number],
      { sequence: number }
    >(
      `DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
         SELECT found.ctid FROM unnest($1::text[], $2::bigint[]) AS taken (subject, up_to)
         CROSS JOIN LATERAL (
           SELECT ctid FROM ${table}
           WHERE sequence IS NOT NULL AND subject = taken.subject AND epoch = $3 AND sequence <= taken.up_to
           ORDER BY sequence LIMIT $4 FOR UPDATE SKIP LOCKED
         ) found
       )) RETURNING sequence`,
    ),
    /**
     * Deletes the oldest published rows of a subject that are older than `ageSeconds`. Returns one row for each. While
     * the first one is younger, only that one is read.
     */
    removeUnclaimed: plannedStatement<
      [subject: string, epoch: string, ageSeconds: number, rowsMax: number],
      { removed: boolean }
    >(
      `DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
         SELECT ctid FROM ${table}
         WHERE sequence IS NOT NULL AND subject = $1 AND epoch = $2
         ORDER BY sequence LIMIT $4 FOR UPDATE SKIP LOCKED
       )) AND available_at < now() - $3 * interval '1 second' AND now() - $3 * interval '1 second' > (
         SELECT available_at FROM ${table}
         WHERE sequence IS NOT NULL AND subject = $1 AND epoch = $2
         ORDER BY sequence LIMIT 1
       ) RETURNING true AS removed`,
    ),
    /** Marks published rows between two sequences as pending. Returns one row for each. */
    unpublish: plannedStatement<
      [subject: string, epoch: string, above: number, below: number, rowsMax: number],
      { unpublished: boolean }
    >(
      `UPDATE ${table} SET epoch = NULL, sequence = NULL, available_at = now()
       WHERE ctid = ANY(ARRAY(
         SELECT ctid FROM ${table}
         WHERE sequence IS NOT NULL AND subject = $1 AND epoch = $2 AND sequence > $3 AND sequence < $4
         ORDER BY sequence LIMIT $5 FOR UPDATE SKIP LOCKED
       )) RETURNING true AS unpublished`,
    ),
    /** Marks published rows as pending by the primary key, waiting for locked ones. Returns one row for each. */
    unpublishPage: plannedStatement<
      [afterProperty: Uuid, afterId: Uuid, rowsMax: number],
      { property_id: Uuid; id: Uuid }
    >(
      `UPDATE ${table} SET epoch = NULL, sequence = NULL, available_at = now()
       WHERE ctid = ANY(ARRAY(
         SELECT ctid FROM ${table}
         WHERE (property_id, id) > ($1, $2) AND sequence IS NOT NULL
         ORDER BY property_id, id LIMIT $3 FOR UPDATE
       )) RETURNING property_id, id`,
    ),

    /** Counts pending and published rows, each by its index. */
    count: statement<[], { waiting: number; published: number }>(
      named("count"),
      `SELECT (SELECT count(*) FROM ${table} WHERE sequence IS NULL) AS waiting,
              (SELECT count(*) FROM ${table} WHERE sequence IS NOT NULL) AS published`,
    ),
    /** The bytes of the messages, or 0 without a scan while the table takes at most `bytesMax` on disk. */
    measure: statement<[bytesMax: number], { bytes: number }>(
      named("measure"),
      `SELECT CASE WHEN pg_total_relation_size('${table}') > $1
                THEN (SELECT coalesce(sum(octet_length(payload)), 0) FROM ${table}) ELSE 0 END AS bytes`,
    ),
    size: statement<[], OutboxSize>(
      named("size"),
      `SELECT count(*) FILTER (WHERE sequence IS NULL) AS waiting, count(*) FILTER (WHERE sequence IS NOT NULL) AS published,
              coalesce(sum(octet_length(payload)), 0) AS bytes
       FROM ${table}`,
    ),
    failing: statement<[], FailingRow>(
      named("failing"),
      `SELECT id, subject, attempts, failure FROM ${table} WHERE sequence IS NULL AND failure IS NOT NULL
       ORDER BY id LIMIT ${failuresShownMax}`,
    ),

    /** Locks the next rows of a property and subject, pending or published, by id. */
    lock: statement<
      [property: Uuid, subject: string, after: Uuid],
      { id: Uuid; payload: Buffer; epoch: string | null; sequence: number | null }
    >(
      named("lock"),
      `SELECT id, payload, epoch, sequence FROM ${table} WHERE property_id = $1 AND subject = $2 AND id > $3
       ORDER BY id LIMIT ${outboxRewriteRowsMax} FOR UPDATE SKIP LOCKED`,
    ),
    /** Rewrites a pending row. */
    rewrite: statement<[property: Uuid, id: Uuid, payload: Buffer]>(
      named("rewrite"),
      `UPDATE ${table} SET payload = $3 WHERE property_id = $1 AND id = $2`,
    ),
    /** Rewrites a published row, and marks it as pending after a delay. */
    rewritePublished: statement<[property: Uuid, id: Uuid, payload: Buffer, delaySeconds: number]>(
      named("rewrite_published"),
      `UPDATE ${table} SET payload = $3, epoch = NULL, sequence = NULL,
         available_at = clock_timestamp() + $4::integer * interval '1 second'
       WHERE property_id = $1 AND id = $2`,
    ),
  };
}

export type OutboxStatements = ReturnType<typeof outboxStatements>;
