/**
 * The statements of an outbox. A row that waits has no sequence; one that is published says at which sequence of which epoch of the
 * stream its message is. Rows are found by one of two partial indexes, and a step takes a bounded number of them; those in the hands of another
 * process are passed over. Payloads are large and stay where they are: no statement writes one but `rewrite`.
 *
 * Steps find rows by an index, and write to them where they are found (ctid). They are planned each time: a plan from when the table was small
 * would read all of it, or sort it.
 */
import { plannedStatement, statement } from "../database/postgres.ts";
import type { Uuid } from "../values/ids.ts";

/** Rows of a round of the relay. */
export const outboxTakeRowsMax = 64;
/** Rows of a step of what is done to many. */
export const outboxStepRowsMax = 1_000;
/** Rows of a look for rows whose messages are rewritten. */
export const outboxRewriteRowsMax = 500;
const failuresShownMax = 20;

/** Rows of a subject that are published in one epoch. */
export interface PublishedSubject {
  subject: string;
  epoch: string;
  /** The highest of them. */
  last_sequence: number;
}

/** A row whose message was refused. */
export interface FailingRow {
  id: Uuid;
  subject: string;
  attempts: number;
  failure: string;
}

/** How much an outbox holds. */
export interface OutboxSize {
  waiting: number;
  published: number;
  bytes: number;
}

/** Makes the statements of the table `outbox` of a schema. */
export function outboxStatements(schema: string) {
  const table = `${schema}.outbox`;
  const named = (name: string): string => `${table}.${name}`;
  return {
    /** Adds a message. */
    enqueue: statement<[property: Uuid, id: Uuid, subject: string, payload: Uint8Array]>(
      named("enqueue"),
      `INSERT INTO ${table} (property_id, id, subject, payload) VALUES ($1, $2, $3, $4)`,
    ),
    /** Takes rows that wait, the oldest first. */
    take: plannedStatement<[], { id: Uuid; subject: string; payload: Buffer }>(
      `SELECT id, subject, payload FROM ${table} WHERE sequence IS NULL AND available_at <= now()
       ORDER BY id LIMIT ${outboxTakeRowsMax} FOR UPDATE SKIP LOCKED`,
    ),
    /** Deletes rows that wait. */
    remove: statement<[ids: readonly Uuid[]]>(
      named("remove"),
      `DELETE FROM ${table} WHERE id = ANY($1::uuid[]) AND sequence IS NULL`,
    ),
    /** Notes where rows that waited are now. */
    note: statement<[ids: readonly Uuid[], epoch: string, sequences: readonly number[]]>(
      named("note"),
      `UPDATE ${table} SET epoch = $2, sequence = ($3::bigint[])[array_position($1::uuid[], id)],
         attempts = 0, failure = NULL, available_at = clock_timestamp()
       WHERE id = ANY($1::uuid[]) AND sequence IS NULL`,
    ),
    /** Lets rows wait that were refused: half a second, and each time twice as long, up to half a minute. */
    postpone: statement<[ids: readonly Uuid[], failures: readonly string[]]>(
      named("postpone"),
      `UPDATE ${table} SET attempts = attempts + 1, failure = ($2::text[])[array_position($1::uuid[], id)],
         available_at = clock_timestamp() + least(30, 0.5 * 2 ^ least(attempts, 10)) * interval '1 second'
       WHERE id = ANY($1::uuid[]) AND sequence IS NULL`,
    ),
    skipDiskWait: statement<[]>(named("skip_disk_wait"), "SET LOCAL synchronous_commit = off"),

    /** Which subjects have published rows, in which epochs: one look by the index for each. */
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
    /** Deletes published rows of subjects, up to a sequence each. */
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
     * Deletes the oldest published rows of a subject, if they are as old as this. Gives a row for each. As long as the first is not, no more than that one is looked at.
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
    /** Lets published rows wait again. Gives a row for each. */
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
    /** Lets published rows wait again, by the primary key. Gives a row for each. */
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

    /** Counts rows, each kind by its index. */
    count: statement<[], { waiting: number; published: number }>(
      named("count"),
      `SELECT (SELECT count(*) FROM ${table} WHERE sequence IS NULL) AS waiting,
              (SELECT count(*) FROM ${table} WHERE sequence IS NOT NULL) AS published`,
    ),
    /** Bytes of the messages, if they can be more than this: what the table takes on disk tells that at once, and nothing is added up. */
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

    /** Rows of a property and subject, published or not, in order. */
    lock: statement<
      [property: Uuid, subject: string, after: Uuid],
      { id: Uuid; payload: Buffer; epoch: string | null; sequence: number | null }
    >(
      named("lock"),
      `SELECT id, payload, epoch, sequence FROM ${table} WHERE property_id = $1 AND subject = $2 AND id > $3
       ORDER BY id LIMIT ${outboxRewriteRowsMax} FOR UPDATE SKIP LOCKED`,
    ),
    /** Rewrites a row that waits. */
    rewrite: statement<[property: Uuid, id: Uuid, payload: Buffer]>(
      named("rewrite"),
      `UPDATE ${table} SET payload = $3 WHERE property_id = $1 AND id = $2`,
    ),
    /** Rewrites a row that is published, and lets it wait again. */
    rewritePublished: statement<[property: Uuid, id: Uuid, payload: Buffer, delaySeconds: number]>(
      named("rewrite_published"),
      `UPDATE ${table} SET payload = $3, epoch = NULL, sequence = NULL,
         available_at = clock_timestamp() + $4::integer * interval '1 second'
       WHERE property_id = $1 AND id = $2`,
    ),
  };
}

/** The statements of one outbox. */
export type OutboxStatements = ReturnType<typeof outboxStatements>;
