/**
 * The statements of an outbox. A pending row has no sequence; a published row has the epoch and the sequence of its
 * message. The relay finds rows by two partial indexes, and skips rows that another relay has locked. Payloads are
 * large, so only a rewrite updates them.
 *
 * The relay works on one property at a time where tables are spread, and on many small ones on one server. What was
 * taken, or was lost, is a range of sequences of all properties: a page of it is read, and then written by sequence.
 * Such steps are planned each time: a plan cached while the table was small would scan or sort all of it later.
 */
import { columns, type Rows } from "../database/columns.ts";
import { plannedStatement, statement } from "../database/postgres.ts";
import type { Uuid } from "../values/ids.ts";

/** Rows of one round of the relay. */
export const outboxTakeRowsMax = 64;
/** Rows that a look for properties reads. */
export const outboxLookRowsMax = 256;
/** Rows of one step of a bulk change. */
export const outboxStepRowsMax = 1_000;
/** Rows of one page of a rewrite. */
export const outboxRewriteRowsMax = 500;
const failuresShownMax = 20;

/** A row whose message failed to publish. */
export interface FailingRow {
  id: Uuid;
  subject: string;
  attempts: number;
  failure: string;
}

/** A row to publish. */
export interface DueRow {
  property_id: Uuid;
  id: Uuid;
  subject: string;
  payload: Buffer;
  attempts: number;
}

/** The rows of an outbox, and the bytes of their messages. */
export interface OutboxSize {
  waiting: number;
  published: number;
  bytes: number;
}

const places = columns(3, { id: "uuid", sequence: "bigint" });
const failures = columns(3, { id: "uuid", failure: "text" });

export function outboxStatements(schema: string) {
  const table = `${schema}.outbox`;
  const named = (name: string): string => `${table}.${name}`;
  return {
    enqueue: statement<[property: Uuid, id: Uuid, subject: string, payload: Uint8Array]>(
      named("enqueue"),
      `INSERT INTO ${table} (property_id, id, subject, payload) VALUES ($1, $2, $3, $4)`,
    ),
    /**
     * The next properties by id that have due rows, with how many of the rows read are theirs. It reads at most
     * `outboxLookRowsMax` rows, so a property with a large backlog may be the only one of its page.
     */
    waiting: plannedStatement<[after: Uuid], { property_id: Uuid; rows: number }>(
      `SELECT property_id, count(*) AS rows FROM (
         SELECT property_id FROM ${table} WHERE sequence IS NULL AND property_id > $1 AND available_at <= now()
         ORDER BY property_id LIMIT ${outboxLookRowsMax}
       ) AS due
       GROUP BY property_id ORDER BY property_id`,
    ),
    /** Locks due rows of a property, the oldest first. */
    take: plannedStatement<[property: Uuid], DueRow>(
      `SELECT property_id, id, subject, payload, attempts FROM ${table}
       WHERE property_id = $1 AND sequence IS NULL AND available_at <= now()
       ORDER BY available_at LIMIT ${outboxTakeRowsMax} FOR UPDATE SKIP LOCKED`,
    ),
    /**
     * Whether the rows are in other tables, by property: a server then locks rows of one property at a time. Partitions
     * stand for the shards of Citus in tests.
     */
    findSpread: statement<[], { is_spread: boolean }>(
      named("find_spread"),
      `SELECT relkind = 'p' OR EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'citus') AS is_spread
       FROM pg_catalog.pg_class WHERE oid = '${table}'::regclass`,
    ),
    /** Locks due rows of properties that have few. For one server only, as the two after it. */
    takeOfAll: plannedStatement<[properties: readonly Uuid[]], DueRow>(
      `SELECT property_id, id, subject, payload, attempts FROM ${table}
       WHERE property_id = ANY($1::uuid[]) AND sequence IS NULL AND available_at <= now()
       LIMIT ${outboxTakeRowsMax} FOR UPDATE SKIP LOCKED`,
    ),
    /** Deletes rows that `takeOfAll` locked. */
    removeOfAll: plannedStatement<[properties: readonly Uuid[], ids: readonly Uuid[]]>(
      `DELETE FROM ${table} AS o USING unnest($1::uuid[], $2::uuid[]) AS t (property_id, id)
       WHERE o.property_id = t.property_id AND o.id = t.id`,
    ),
    /** Marks rows that `takeOfAll` locked as published, with their places. */
    noteOfAll: plannedStatement<
      [properties: readonly Uuid[], ids: readonly Uuid[], sequences: readonly number[], epoch: string]
    >(
      `UPDATE ${table} AS o SET epoch = $4, sequence = t.sequence, attempts = 0, failure = NULL,
         available_at = statement_timestamp()
       FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS t (property_id, id, sequence)
       WHERE o.property_id = t.property_id AND o.id = t.id`,
    ),
    /** Deletes rows that `take` locked. */
    remove: statement<[property: Uuid, ids: readonly Uuid[]]>(
      named("remove"),
      `DELETE FROM ${table} WHERE property_id = $1 AND id = ANY($2::uuid[])`,
    ),
    /** Marks rows that `take` locked as published, with their places. */
    note: statement<[property: Uuid, epoch: string, places: Rows<typeof places>]>(
      named("note"),
      `UPDATE ${table} AS o SET epoch = $2, sequence = p.sequence, attempts = 0, failure = NULL,
         available_at = statement_timestamp()
       FROM ${places.as("p")}
       WHERE o.property_id = $1 AND o.id = ANY(${places.array("id")}) AND o.id = p.id`,
      places,
    ),
    /** Postpones rows that `take` locked and that failed. */
    postpone: statement<[property: Uuid, delaySeconds: number, failures: Rows<typeof failures>]>(
      named("postpone"),
      `UPDATE ${table} AS o SET attempts = o.attempts + 1, failure = f.failure,
         available_at = statement_timestamp() + $2::double precision * interval '1 second'
       FROM ${failures.as("f")}
       WHERE o.property_id = $1 AND o.id = ANY(${failures.array("id")}) AND o.id = f.id`,
      failures,
    ),
    skipDiskWait: statement<[]>(named("skip_disk_wait"), "SET LOCAL synchronous_commit = off"),

    /** The next subject and epoch of published rows. */
    nextPublished: statement<[afterSubject: string, afterEpoch: string], { subject: string; epoch: string }>(
      named("next_published"),
      `SELECT subject, epoch FROM ${table} WHERE sequence IS NOT NULL AND (subject, epoch) > ($1, $2)
       ORDER BY subject, epoch LIMIT 1`,
    ),
    /** The highest sequence of a subject in an epoch. */
    lastPublished: statement<[subject: string, epoch: string], { sequence: number }>(
      named("last_published"),
      `SELECT sequence FROM ${table} WHERE sequence IS NOT NULL AND subject = $1 AND epoch = $2
       ORDER BY sequence DESC LIMIT 1`,
    ),
    /** The lowest sequences of published rows between two sequences. */
    pageBetween: plannedStatement<
      [subject: string, epoch: string, above: number, below: number, rowsMax: number],
      { sequence: number }
    >(
      `SELECT sequence FROM ${table}
       WHERE sequence IS NOT NULL AND subject = $1 AND epoch = $2 AND sequence > $3 AND sequence < $4
       ORDER BY sequence LIMIT $5`,
    ),
    /** Those of the `rowsMax` lowest sequences whose rows are older than `ageSeconds`. */
    pageOlder: plannedStatement<
      [subject: string, epoch: string, ageSeconds: number, rowsMax: number],
      { sequence: number }
    >(
      `SELECT sequence FROM (
         SELECT sequence, available_at FROM ${table} WHERE sequence IS NOT NULL AND subject = $1 AND epoch = $2
         ORDER BY sequence LIMIT $4
       ) AS lowest WHERE available_at < now() - $3 * interval '1 second'`,
    ),
    /** Deletes published rows. */
    removePublished: plannedStatement<
      [subject: string, epoch: string, sequences: readonly number[]],
      { sequence: number }
    >(
      `DELETE FROM ${table}
       WHERE sequence IS NOT NULL AND subject = $1 AND epoch = $2 AND sequence = ANY($3::bigint[])
       RETURNING sequence`,
    ),
    /** Marks published rows as pending. Returns one row for each. */
    unpublish: plannedStatement<
      [subject: string, epoch: string, sequences: readonly number[]],
      { unpublished: boolean }
    >(
      `UPDATE ${table} SET epoch = NULL, sequence = NULL, available_at = statement_timestamp()
       WHERE sequence IS NOT NULL AND subject = $1 AND epoch = $2 AND sequence = ANY($3::bigint[])
       RETURNING true AS unpublished`,
    ),
    /** Marks all published rows above a sequence as pending, in one statement. Returns one row for each. */
    unpublishAbove: plannedStatement<[subject: string, epoch: string, above: number], { unpublished: boolean }>(
      `UPDATE ${table} SET epoch = NULL, sequence = NULL, available_at = statement_timestamp()
       WHERE sequence IS NOT NULL AND subject = $1 AND epoch = $2 AND sequence > $3
       RETURNING true AS unpublished`,
    ),
    /** The next published rows by primary key. */
    pagePublished: plannedStatement<
      [afterProperty: Uuid, afterId: Uuid, rowsMax: number],
      { property_id: Uuid; id: Uuid }
    >(
      `SELECT property_id, id FROM ${table} WHERE (property_id, id) > ($1, $2) AND sequence IS NOT NULL
       ORDER BY property_id, id LIMIT $3`,
    ),
    /** Marks published rows of a property as pending. Returns one row for each. */
    unpublishRows: statement<[property: Uuid, ids: readonly Uuid[]], { id: Uuid }>(
      named("unpublish_rows"),
      `UPDATE ${table} SET epoch = NULL, sequence = NULL, available_at = statement_timestamp()
       WHERE property_id = $1 AND id = ANY($2::uuid[]) AND sequence IS NOT NULL RETURNING id`,
    ),

    /** Counts pending and published rows, each by its index. */
    count: statement<[], { waiting: number; published: number }>(
      named("count"),
      `SELECT (SELECT count(*) FROM ${table} WHERE sequence IS NULL) AS waiting,
              (SELECT count(*) FROM ${table} WHERE sequence IS NOT NULL) AS published`,
    ),
    /**
     * The bytes of the messages, or 0 without a scan while the table takes at most `bytesMax` on disk. A table without
     * a page of its own is empty, or its rows are in other tables: partitions, or shards on other servers. Its size
     * says nothing then, and the rows are read.
     */
    measure: statement<[bytesMax: number], { bytes: number }>(
      named("measure"),
      `SELECT CASE WHEN pg_relation_size('${table}') = 0 OR pg_total_relation_size('${table}') > $1
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
         available_at = statement_timestamp() + $4::integer * interval '1 second'
       WHERE property_id = $1 AND id = $2`,
    ),
  };
}

export type OutboxStatements = ReturnType<typeof outboxStatements>;
