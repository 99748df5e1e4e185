/** Counts of refused writes, what of them was told, and what a property keeps. */
import type { RejectionSeverity } from "#proto/daybook/event/v1/rejected_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { columns, type Rows } from "#shared/database/columns.ts";
import { plannedStatement, statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** What a property keeps, and what it has kept today. */
export interface KeptRow {
  keeps_payloads: boolean;
  kept_count: number;
  group_count: number;
}

/** Locks the counts of a property until the end of the transaction, and begins its day. */
export const lockKept = statement<[property: Uuid, day: Instant], KeptRow>(
  "event.rejected_properties.lock",
  `INSERT INTO event.rejected_properties AS p (property_id, day_begins_at, kept_count, group_count) VALUES ($1, $2, 0, 0)
   ON CONFLICT (property_id) DO UPDATE SET
     kept_count = CASE WHEN p.day_begins_at >= excluded.day_begins_at THEN p.kept_count ELSE 0 END,
     group_count = CASE WHEN p.day_begins_at >= excluded.day_begins_at THEN p.group_count ELSE 0 END,
     day_begins_at = greatest(p.day_begins_at, excluded.day_begins_at)
   RETURNING keeps_payloads, kept_count, group_count`,
);

export const addKept = statement<[property: Uuid, kept: number, groups: number]>(
  "event.rejected_properties.add",
  `UPDATE event.rejected_properties SET kept_count = kept_count + $2, group_count = group_count + $3 WHERE property_id = $1`,
);

/** Returns no row for a property that never had a refused write. */
export const readKeepsPayloads = statement<[property: Uuid], { keeps_payloads: boolean }>(
  "event.rejected_properties.read",
  `SELECT keeps_payloads FROM event.rejected_properties WHERE property_id = $1`,
);

export const setKeepsPayloads = statement<[property: Uuid, keepsPayloads: boolean]>(
  "event.rejected_properties.set",
  `UPDATE event.rejected_properties SET keeps_payloads = $2 WHERE property_id = $1`,
);

/** Notes ids as told. Returns those that were not told before. */
export const noteTold = statement<[property: Uuid, expiresAt: Instant, ids: readonly Uuid[]], { id: Uuid }>(
  "event.rejected_told.note",
  `INSERT INTO event.rejected_told (property_id, id, expires_at)
   SELECT $1, t.id, $2 FROM unnest($3::uuid[]) AS t (id)
   ON CONFLICT (property_id, id) DO NOTHING RETURNING id`,
);

const groupKeys = columns(2, { minute: "timestamptz", group_digest: "bytea" });

/** Reads how many entries groups have in a minute. A group without a row has none. */
export const readGroups = statement<
  [property: Uuid, groups: Rows<typeof groupKeys>],
  { minute: Micros; group_digest: Buffer; kept_count: number }
>(
  "event.rejected_counts.read",
  `SELECT c.minute, c.group_digest, c.kept_count
   FROM ${groupKeys.as("wanted")}
   CROSS JOIN LATERAL (
     SELECT minute, group_digest, kept_count FROM event.rejected_counts
     WHERE property_id = $1 AND minute = wanted.minute AND group_digest = wanted.group_digest LIMIT 1
   ) c`,
  groupKeys,
);

const counts = columns(2, {
  minute: "timestamptz",
  group_digest: "bytea",
  operation: "text",
  code: "text",
  param: "text?",
  event_type: "text?",
  key_id: "text",
  key_name: "text",
  severity: "integer",
  count: "bigint",
  kept_count: "integer",
  first_at: "timestamptz",
  last_at: "timestamptz",
});

/** Adds to the counts of groups. */
export const addCounts = statement<[property: Uuid, counts: Rows<typeof counts>]>(
  "event.rejected_counts.add",
  `INSERT INTO event.rejected_counts AS c (property_id, minute, group_digest, operation, code, param, event_type, key_id,
     key_name, severity, count, kept_count, unreported_count, first_at, last_at)
   SELECT $1, n.minute, n.group_digest, n.operation, n.code, n.param, n.event_type, n.key_id,
     n.key_name, n.severity, n.count, n.kept_count, n.count, n.first_at, n.last_at
   FROM ${counts.as("n")}
   ON CONFLICT (property_id, minute, group_digest) DO UPDATE SET
     key_name = excluded.key_name, count = c.count + excluded.count, kept_count = c.kept_count + excluded.kept_count,
     unreported_count = c.unreported_count + excluded.unreported_count,
     first_at = least(c.first_at, excluded.first_at), last_at = greatest(c.last_at, excluded.last_at)`,
  counts,
);

/** A group and how many writes it has. */
export interface GroupRow {
  operation: string;
  code: string;
  param: string | null;
  event_type: string | null;
  key_id: string;
  key_name: string;
  severity: RejectionSeverity;
  count: number;
  /** Of all groups. */
  total: number;
  first_at: Micros;
  last_at: Micros;
  group_digest: Buffer;
}

const grouped = (count: string): string =>
  `operation, code, param, event_type, key_id, severity, group_digest,
     (array_agg(key_name ORDER BY last_at DESC))[1] AS key_name,
     sum(${count})::bigint AS count, (sum(sum(${count})) OVER ())::bigint AS total,
     min(first_at) AS first_at, max(last_at) AS last_at`;
const groupedBy = `GROUP BY operation, code, param, event_type, key_id, severity, group_digest
   ORDER BY count DESC, last_at DESC, group_digest`;

/** Counts by group within whole minutes, those with the most first. A null condition is none. */
export const summarize = plannedStatement<
  [
    property: Uuid,
    from: Instant,
    before: Instant,
    operation: string | null,
    code: string | null,
    param: string | null,
    eventType: string | null,
    keyId: string | null,
    severity: number | null,
    limit: number,
  ],
  GroupRow
>(
  `SELECT ${grouped("count")}
   FROM event.rejected_counts
   WHERE property_id = $1 AND minute >= $2 AND minute < $3
     AND ($4::text IS NULL OR operation = $4) AND ($5::text IS NULL OR code = $5)
     AND ($6::text IS NULL OR param = $6) AND ($7::text IS NULL OR event_type = $7)
     AND ($8::text IS NULL OR key_id = $8) AND ($9::integer IS NULL OR severity = $9)
   ${groupedBy} LIMIT $10`,
);

/** The groups of a key that no report has told. */
export const readUnreported = statement<[property: Uuid, keyId: string, limit: number], GroupRow>(
  "event.rejected_counts.read_unreported",
  `SELECT ${grouped("unreported_count")}
   FROM event.rejected_counts WHERE property_id = $1 AND key_id = $2 AND unreported_count > 0
   ${groupedBy} LIMIT $3`,
);

export const noteReported = statement<[property: Uuid, keyId: string]>(
  "event.rejected_counts.note_reported",
  `UPDATE event.rejected_counts SET unreported_count = 0 WHERE property_id = $1 AND key_id = $2 AND unreported_count > 0`,
);

const openReports = columns(2, { key_id: "text", first_at: "timestamptz", due_at: "timestamptz" });

/** Asks for reports of keys. One that is asked for already stays due when it is. */
export const openReport = statement<[property: Uuid, keys: Rows<typeof openReports>]>(
  "event.rejected_reports.open",
  `INSERT INTO event.rejected_reports AS r (property_id, key_id, first_at, due_at, is_open)
   SELECT $1, o.key_id, o.first_at, o.due_at, true FROM ${openReports.as("o")}
   ON CONFLICT (property_id, key_id) DO UPDATE SET
     first_at = CASE WHEN r.is_open THEN least(r.first_at, excluded.first_at) ELSE excluded.first_at END,
     due_at = CASE WHEN r.is_open THEN r.due_at ELSE greatest(r.due_at, excluded.due_at) END,
     is_open = true`,
  openReports,
);

/** The next reports that are due, of all properties. */
export const findDueReports = plannedStatement<[now: Instant, rowsMax: number], { property_id: Uuid; key_id: string }>(
  `SELECT property_id, key_id FROM event.rejected_reports WHERE due_at <= $1 AND is_open ORDER BY due_at LIMIT $2`,
);

/** Closes a report that is due. Returns no row when another process did. */
export const closeReport = statement<
  [property: Uuid, keyId: string, now: Instant, nextAt: Instant],
  { first_at: Micros }
>(
  "event.rejected_reports.close",
  `UPDATE event.rejected_reports SET is_open = false, due_at = $4
   WHERE property_id = $1 AND key_id = $2 AND is_open AND due_at <= $3
   RETURNING first_at`,
);

/** Reports without anything to tell whose time is over, of all properties. */
export const findOldReports = plannedStatement<[now: Instant, rowsMax: number], { property_id: Uuid; key_id: string }>(
  `SELECT property_id, key_id FROM event.rejected_reports WHERE due_at <= $1 AND NOT is_open ORDER BY due_at LIMIT $2`,
);

export const deleteOldReports = statement<[property: Uuid, now: Instant, keyIds: readonly string[]], { deleted: true }>(
  "event.rejected_reports.delete_old",
  `DELETE FROM event.rejected_reports
   WHERE property_id = $1 AND key_id = ANY($3::text[]) AND due_at <= $2 AND NOT is_open
   RETURNING true AS deleted`,
);

export const findOldCounts = plannedStatement<
  [before: Instant, rowsMax: number],
  { property_id: Uuid; minute: Micros; group_digest: Buffer }
>(`SELECT property_id, minute, group_digest FROM event.rejected_counts WHERE minute < $1 ORDER BY minute LIMIT $2`);

export const deleteCounts = statement<[property: Uuid, groups: Rows<typeof groupKeys>], { deleted: true }>(
  "event.rejected_counts.delete",
  `DELETE FROM event.rejected_counts
   WHERE property_id = $1 AND ctid = ANY(ARRAY(
     SELECT c.ctid
     FROM ${groupKeys.as("old")}
     CROSS JOIN LATERAL (
       SELECT ctid FROM event.rejected_counts
       WHERE property_id = $1 AND minute = old.minute AND group_digest = old.group_digest LIMIT 1 FOR UPDATE SKIP LOCKED
     ) c
   ))
   RETURNING true AS deleted`,
  groupKeys,
);

export const findOldTold = plannedStatement<[now: Instant, rowsMax: number], { property_id: Uuid; id: Uuid }>(
  `SELECT property_id, id FROM event.rejected_told WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2`,
);

export const deleteTold = statement<[property: Uuid, ids: readonly Uuid[]], { id: Uuid }>(
  "event.rejected_told.delete",
  `DELETE FROM event.rejected_told WHERE property_id = $1 AND id = ANY($2::uuid[]) RETURNING id`,
);

/** Empties fields of groups that have one of the values, in lower case, as a part. The counts stay. */
export const emptyGroups = statement<[property: Uuid, values: readonly string[]]>(
  "event.rejected_counts.empty",
  `UPDATE event.rejected_counts SET param = NULL, event_type = NULL
   WHERE property_id = $1 AND (
     lower(event_type) = ANY($2::text[])
     OR string_to_array(lower(param), '.') && $2::text[] OR string_to_array(lower(param), '/') && $2::text[]
   )`,
);
