/** Idempotency-Keys and their operations. All keys here are digests, see key-digest.ts. */
import { columns, type Columns, type Rows } from "#shared/database/columns.ts";
import { plannedStatement, statement } from "#shared/database/postgres.ts";
import type { RecordedRow } from "#shared/once/request-claims.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

export interface ClaimedRow {
  property_id: Uuid;
  key: string;
  operation_id: Uuid;
  attempt: number;
}

/** The stored operation of a key. */
export interface OperationRow {
  property_id: Uuid;
  key: string;
  fingerprint: Buffer;
  /** All four are null until there is an answer. */
  status: number | null;
  /** The text of a JSON object. */
  headers: string | null;
  body: string | null;
  request_id: string | null;
  /** Also null if it equals the body. */
  masked_body: string | null;
  /** Both are null unless a service recorded it in the transaction that claimed the key. */
  recorded: string | null;
  revision: string | null;
  /** The last attempt's lease is over. */
  is_free: boolean;
}

const claims = columns(4, { property_id: "uuid", key: "text", fingerprint: "bytea", operation_id: "uuid" });

/**
 * Claims keys at an instant, which is a column of the row because no parameter may stand in ON CONFLICT. New and
 * expired keys get the given operation ids. Unanswered keys with the same fingerprint keep theirs once the lease is
 * over. Others give no row. Keys must be distinct. Ordered by key, so that concurrent calls cannot deadlock.
 */
export const claimOperations = statement<
  [now: Instant, leasedUntil: Instant, expiresAt: Instant, claims: Rows<typeof claims>],
  ClaimedRow
>(
  "identity.operations.claim",
  `INSERT INTO identity.operations AS o (property_id, key, fingerprint, operation_id, claimed_at, leased_until, expires_at)
   SELECT c.property_id, c.key, c.fingerprint, c.operation_id, $1, $2, $3
   FROM ${claims.as("c")}
   ORDER BY c.property_id, c.key
   ON CONFLICT (property_id, key) DO UPDATE SET
     fingerprint = excluded.fingerprint,
     operation_id = CASE WHEN o.expires_at <= excluded.claimed_at THEN excluded.operation_id ELSE o.operation_id END,
     attempt = CASE WHEN o.expires_at <= excluded.claimed_at THEN 1 ELSE o.attempt + 1 END,
     claimed_at = excluded.claimed_at,
     leased_until = excluded.leased_until,
     expires_at = CASE WHEN o.expires_at <= excluded.claimed_at THEN excluded.expires_at ELSE o.expires_at END,
     status = NULL, headers = NULL, body = NULL, request_id = NULL, masked_body = NULL, subjects = NULL,
     recorded = NULL, revision = NULL
   WHERE o.expires_at <= excluded.claimed_at
     OR (o.status IS NULL AND o.recorded IS NULL AND o.leased_until <= excluded.claimed_at
         AND o.fingerprint = excluded.fingerprint)
   RETURNING property_id, key, operation_id, attempt`,
  claims,
);

/** The columns of what was recorded, from a parameter on. */
export const recordedColumns = (first: number): Columns<RecordedRow> =>
  columns(first, {
    key: "text",
    fingerprint: "bytea",
    operation_id: "uuid",
    expires_at: "timestamptz",
    recorded: "text",
    revision: "text",
  });

/** Inserts claims of the property $1 at the instant $2, with what was recorded. Ordered like claims. */
export const insertRecorded = (rows: Columns<RecordedRow>): string =>
  `INSERT INTO identity.operations AS o
     (property_id, key, fingerprint, operation_id, claimed_at, leased_until, expires_at, recorded, revision)
   SELECT $1, r.key, r.fingerprint, r.operation_id, $2, $2, r.expires_at, r.recorded, r.revision
   FROM ${rows.as("r")}
   ORDER BY r.key`;

const recorded = recordedColumns(3);

/** Claims free keys with what was recorded for them. A held key gives no row. Keys must be distinct. */
export const recordOperations = statement<
  [property: Uuid, now: Instant, operations: readonly RecordedRow[]],
  { key: string }
>(
  "identity.operations.record",
  `${insertRecorded(recorded)}
   ON CONFLICT (property_id, key) DO UPDATE SET
     fingerprint = excluded.fingerprint, operation_id = excluded.operation_id, attempt = 1,
     claimed_at = excluded.claimed_at, leased_until = excluded.leased_until, expires_at = excluded.expires_at,
     status = NULL, headers = NULL, body = NULL, request_id = NULL, masked_body = NULL, subjects = NULL,
     recorded = excluded.recorded, revision = excluded.revision
   WHERE o.expires_at <= excluded.claimed_at
   RETURNING key`,
  recorded,
);

/** Which of the keys are held. One index look-up each, as below. */
export const findHeldKeys = statement<[property: Uuid, now: Instant, keys: readonly string[]], { key: string }>(
  "identity.operations.find_held",
  `SELECT wanted.key
   FROM unnest($3::text[]) AS wanted (key)
   CROSS JOIN LATERAL (
     SELECT expires_at FROM identity.operations WHERE property_id = $1 AND key = wanted.key LIMIT 1
   ) AS o
   WHERE o.expires_at > $2`,
);

const keys = columns(2, { property_id: "uuid", key: "text" });

/** One index look-up per key, because statistics of a table that was empty mislead the plan of a join. */
export const findOperations = statement<[now: Instant, keys: Rows<typeof keys>], OperationRow>(
  "identity.operations.find",
  `SELECT o.property_id, o.key, o.fingerprint, o.status, o.headers, o.body, o.request_id, o.masked_body,
          o.recorded, o.revision, o.leased_until <= $1 AS is_free
   FROM ${keys.as("wanted")}
   CROSS JOIN LATERAL (
     SELECT * FROM identity.operations WHERE property_id = wanted.property_id AND key = wanted.key LIMIT 1
   ) AS o`,
  keys,
);

const settlements = columns(1, {
  property_id: "uuid",
  key: "text",
  operation_id: "uuid",
  attempt: "integer",
  leased_until: "timestamptz",
  status: "integer?",
  headers: "json?",
  body: "text?",
  request_id: "text?",
  masked_body: "text?",
  // A JSON array of UUIDs.
  subjects: "json?",
});

/**
 * Extends the leases of operations, or stores their answers. A lease until -infinity releases the key. No row if
 * another attempt has taken over. Keys must be distinct; ordered like claims. Written as an upsert so that the planner
 * always uses the primary key; if the row is gone, the insert creates one that has already expired.
 */
export const settleOperations = statement<[settlements: Rows<typeof settlements>], { property_id: Uuid; key: string }>(
  "identity.operations.settle",
  `INSERT INTO identity.operations AS o
     (property_id, key, fingerprint, operation_id, attempt, claimed_at, expires_at, leased_until, status, headers, body,
      request_id, masked_body, subjects)
   SELECT s.property_id, s.key, '', s.operation_id, s.attempt, '-infinity', '-infinity', s.leased_until, s.status, s.headers, s.body, s.request_id,
          s.masked_body, nullif(ARRAY(SELECT value::uuid FROM json_array_elements_text(s.subjects)), '{}')
   FROM ${settlements.as("s")}
   ORDER BY s.property_id, s.key
   ON CONFLICT (property_id, key) DO UPDATE SET
     expires_at = CASE WHEN excluded.leased_until = '-infinity' THEN excluded.expires_at ELSE o.expires_at END,
     leased_until = excluded.leased_until,
     status = excluded.status, headers = excluded.headers, body = excluded.body, request_id = excluded.request_id,
     masked_body = excluded.masked_body, subjects = excluded.subjects
   WHERE o.operation_id = excluded.operation_id AND o.attempt = excluded.attempt AND o.status IS NULL
   RETURNING property_id, key`,
  settlements,
);

/** Deletes answers; their operations become unfinished. Gives a row for each. */
export const forgetAnswers = statement<[property: Uuid, subjects: readonly Uuid[]], { forgotten: boolean }>(
  "identity.operations.forget_answers",
  `UPDATE identity.operations
   SET status = NULL, headers = NULL, body = NULL, request_id = NULL, masked_body = NULL, subjects = NULL
   WHERE property_id = $1 AND subjects && $2::uuid[]
   RETURNING true AS forgotten`,
);

/** Deletes what was recorded for operations, which become unfinished. Gives a row for each. */
export const forgetRecorded = statement<[property: Uuid, operations: readonly Uuid[]], { forgotten: boolean }>(
  "identity.operations.forget_recorded",
  `UPDATE identity.operations SET recorded = NULL, revision = NULL
   WHERE property_id = $1 AND operation_id = ANY($2::uuid[]) AND recorded IS NOT NULL
   RETURNING true AS forgotten`,
);

/** A page of the answers with refusals, which have the property as a subject, and how long they are. */
export const pageRefusals = plannedStatement<
  [property: Uuid, afterKey: string, rowsMax: number],
  { key: string; bytes: number }
>(
  `SELECT key, octet_length(body) AS bytes FROM identity.operations
   WHERE property_id = $1 AND subjects && ARRAY[$1] AND key > $2 ORDER BY key LIMIT $3`,
);

/** The bodies of answers with refusals. */
export const readRefusals = statement<[property: Uuid, keys: readonly string[]], { key: string; body: string }>(
  "identity.operations.read_refusals",
  `SELECT key, body FROM identity.operations WHERE property_id = $1 AND key = ANY($2::text[]) AND body IS NOT NULL`,
);

/** Deletes answers by their keys. Gives a row for each. */
export const forgetAnswersByKey = statement<[property: Uuid, keys: readonly string[]], { forgotten: boolean }>(
  "identity.operations.forget_answers_by_key",
  `UPDATE identity.operations
   SET status = NULL, headers = NULL, body = NULL, request_id = NULL, masked_body = NULL, subjects = NULL
   WHERE property_id = $1 AND key = ANY($2::text[])
   RETURNING true AS forgotten`,
);

/** Gives a row for each deleted key. */
export const deleteExpiredOperations = statement<[now: Instant, rowsMax: number], { expired: boolean }>(
  "identity.operations.delete_expired",
  `DELETE FROM identity.operations WHERE ctid = ANY(ARRAY(
     SELECT ctid FROM identity.operations WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
   )) RETURNING true AS expired`,
);
