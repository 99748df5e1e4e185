/** Refused writes that are kept, and what was sent. */
import type { PayloadState, RejectionSeverity, RejectionSurface } from "#proto/daybook/event/v1/rejected_pb.ts";
import type { Micros } from "#shared/values/clock.ts";
import { columns, type Rows } from "#shared/database/columns.ts";
import { plannedStatement, statement, type Queryable, type Statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Range } from "#shared/values/time.ts";

/** A refused write, without what was sent. */
export interface RejectedRow {
  id: Uuid;
  rejected_at: Micros;
  operation: string;
  surface: RejectionSurface;
  severity: RejectionSeverity;
  status: number;
  error: Buffer;
  request_id: string;
  item_index: number | null;
  client_reference: string | null;
  event_type: string | null;
  key_id: string;
  key_name: string;
  installation_id: string | null;
  job_id: string | null;
  payload_state: PayloadState;
  /** Whether what was sent is stored. */
  has_payload: boolean;
}

const rowColumns = `w.id, w.rejected_at, w.operation, w.surface, w.severity, w.status, w.error, w.request_id, w.item_index,
  w.client_reference, w.event_type, w.key_id, w.key_name, w.installation_id, w.job_id, w.payload_state`;

const written = columns(2, {
  id: "uuid",
  rejected_at: "timestamptz",
  group_digest: "bytea",
  operation: "text",
  surface: "integer",
  severity: "integer",
  status: "integer",
  code: "text",
  param: "text?",
  error: "bytea",
  request_id: "text",
  item_index: "integer?",
  client_reference: "text?",
  event_type: "text?",
  key_id: "text",
  key_name: "text",
  installation_id: "text?",
  job_id: "text?",
  payload_state: "integer",
});

export const insertWrites = statement<[property: Uuid, writes: Rows<typeof written>], { id: Uuid }>(
  "event.rejected_writes.insert",
  `INSERT INTO event.rejected_writes (property_id, id, rejected_at, group_digest, operation, surface, severity, status, code,
     param, error, request_id, item_index, client_reference, event_type, key_id, key_name, installation_id, job_id, payload_state)
   SELECT $1, n.id, n.rejected_at, n.group_digest, n.operation, n.surface, n.severity, n.status, n.code,
     n.param, n.error, n.request_id, n.item_index, n.client_reference, n.event_type, n.key_id, n.key_name, n.installation_id,
     n.job_id, n.payload_state
   FROM ${written.as("n")}
   ON CONFLICT (property_id, id) DO NOTHING RETURNING id`,
  written,
);

const payloads = columns(2, { id: "uuid", payload: "bytea" });

export const insertPayloads = statement<[property: Uuid, payloads: Rows<typeof payloads>], { id: Uuid }>(
  "event.rejected_payloads.insert",
  `INSERT INTO event.rejected_payloads (property_id, id, payload)
   SELECT $1, n.id, n.payload FROM ${payloads.as("n")}
   ON CONFLICT (property_id, id) DO NOTHING RETURNING id`,
  payloads,
);

/** One look-up. */
export const readWrite = statement<
  [property: Uuid, id: Uuid, notBefore: Uuid],
  RejectedRow & { payload: Buffer | null }
>(
  "event.rejected_writes.read",
  `SELECT ${rowColumns}, p.payload, p.payload IS NOT NULL AS has_payload
   FROM unnest(ARRAY[$2]::uuid[]) AS wanted (write_id)
   CROSS JOIN LATERAL (
     SELECT * FROM event.rejected_writes WHERE property_id = $1 AND id = wanted.write_id LIMIT 1
   ) AS w
   LEFT JOIN LATERAL (
     SELECT payload FROM event.rejected_payloads WHERE property_id = $1 AND id = $2 LIMIT 1
   ) p ON true
   WHERE w.id >= $3`,
);

const sampled = columns(4, { group_digest: "bytea" });

/** The newest entries of groups. */
export const readSamples = statement<
  [property: Uuid, samplesMax: number, notBefore: Uuid, groups: Rows<typeof sampled>],
  { group_digest: Buffer; id: Uuid }
>(
  "event.rejected_writes.read_samples",
  `SELECT s.group_digest, s.id
   FROM ${sampled.as("wanted")}
   CROSS JOIN LATERAL (
     SELECT group_digest, id FROM event.rejected_writes
     WHERE property_id = $1 AND group_digest = wanted.group_digest AND id >= $3 ORDER BY id DESC LIMIT $2
   ) s`,
  sampled,
);

/** The conditions of a list; undefined means no condition. */
export interface RejectedListValues {
  property: Uuid;
  operation?: string | undefined;
  code?: string | undefined;
  param?: string | undefined;
  event_type?: string | undefined;
  key_id?: string | undefined;
  request_id?: string | undefined;
  client_reference?: string | undefined;
  severity?: number | undefined;
  rejectedAt: Range;
  /** Bounds of the ids; both are entries' times. */
  from: Uuid;
  before: Uuid;
  limit: number;
}

// The column whose index a list uses, the most selective first, with the condition of that index.
const indexed = [
  ["request_id", "w.request_id <> ''"],
  ["client_reference", "w.client_reference IS NOT NULL"],
  ["param", "w.param IS NOT NULL"],
  ["event_type", "w.event_type IS NOT NULL"],
  ["code", "w.code <> ''"],
  ["operation", "w.operation <> ''"],
  ["key_id", "w.key_id <> ''"],
] as const;

const lists = new Map<string, Statement<readonly unknown[], RejectedRow>>();

/** Reads one page, newest first. A statement has only the conditions that the list asks for. */
export function listWrites(database: Queryable, values: RejectedListValues): Promise<RejectedRow[]> {
  const parameters: unknown[] = [values.property];
  const add = (value: unknown): string => `$${parameters.push(value)}`;
  const conditions = ["w.property_id = $1", `w.id >= ${add(values.from)}`, `w.id < ${add(values.before)}`];
  const index = indexed.find(([column]) => values[column] !== undefined);
  if (index) conditions.push(index[1]);
  for (const column of [...indexed.map(([name]) => name), "severity"] as const) {
    const value = values[column];
    if (value !== undefined) conditions.push(`w.${column} = ${add(value)}`);
  }
  const { from, before } = values.rejectedAt;
  if (from !== undefined) conditions.push(`w.rejected_at >= ${add(from)}`);
  if (before !== undefined) conditions.push(`w.rejected_at < ${add(before)}`);
  const text = `SELECT ${rowColumns}, EXISTS (
       SELECT FROM event.rejected_payloads p WHERE p.property_id = $1 AND p.id = w.id
     ) AS has_payload
     FROM event.rejected_writes w WHERE ${conditions.join(" AND ")}
     ORDER BY w.id DESC LIMIT ${add(values.limit)}`;
  const list =
    lists.get(text) ?? statement<readonly unknown[], RejectedRow>(`event.rejected_writes.list.${lists.size}`, text);
  lists.set(text, list);
  return list(database, parameters);
}

/** Deletes some of what a property keeps of what was sent. Returns one row for each. */
export const deletePayloadsOf = statement<[property: Uuid, rowsMax: number], { id: Uuid }>(
  "event.rejected_payloads.delete_of",
  `DELETE FROM event.rejected_payloads WHERE property_id = $1 AND id = ANY(ARRAY(
     SELECT id FROM event.rejected_payloads WHERE property_id = $1 ORDER BY id LIMIT $2
   )) RETURNING id`,
);

export const findOldPayloads = plannedStatement<[before: Uuid, rowsMax: number], { property_id: Uuid; id: Uuid }>(
  `SELECT property_id, id FROM event.rejected_payloads WHERE id < $1 ORDER BY id LIMIT $2`,
);

export const deletePayloads = statement<[property: Uuid, ids: readonly Uuid[]], { id: Uuid }>(
  "event.rejected_payloads.delete",
  `DELETE FROM event.rejected_payloads WHERE property_id = $1 AND id = ANY($2::uuid[]) RETURNING id`,
);

export const findOldWrites = plannedStatement<[before: Uuid, rowsMax: number], { property_id: Uuid; id: Uuid }>(
  `SELECT property_id, id FROM event.rejected_writes WHERE id < $1 ORDER BY id LIMIT $2`,
);

export const deleteWrites = statement<[property: Uuid, ids: readonly Uuid[]], { id: Uuid }>(
  "event.rejected_writes.delete",
  `DELETE FROM event.rejected_writes WHERE property_id = $1 AND id = ANY($2::uuid[]) RETURNING id`,
);

/** A refused write with all of its texts. */
export interface WrittenText {
  id: Uuid;
  error: Buffer;
  param: string | null;
  client_reference: string | null;
  event_type: string | null;
  payload: Buffer | null;
}

/** The next entries that are not emptied, with what was sent. */
export const readTexts = statement<[property: Uuid, after: Uuid, redacted: number, rowsMax: number], WrittenText>(
  "event.rejected_writes.read_texts",
  `SELECT w.id, w.error, w.param, w.client_reference, w.event_type, p.payload
   FROM (
     SELECT id, error, param, client_reference, event_type FROM event.rejected_writes
     WHERE property_id = $1 AND id > $2 AND payload_state <> $3 ORDER BY id LIMIT $4
   ) w
   LEFT JOIN LATERAL (
     SELECT payload FROM event.rejected_payloads WHERE property_id = $1 AND id = w.id LIMIT 1
   ) p ON true
   ORDER BY w.id`,
);

const emptied = columns(3, { id: "uuid", error: "bytea" });

/** Empties entries. Their payloads are deleted by themselves. */
export const emptyWrites = statement<[property: Uuid, redacted: number, entries: Rows<typeof emptied>], { id: Uuid }>(
  "event.rejected_writes.empty",
  `UPDATE event.rejected_writes AS w
   SET payload_state = $2, error = e.error, param = NULL, client_reference = NULL, event_type = NULL
   FROM ${emptied.as("e")}
   WHERE w.property_id = $1 AND w.id = ANY(${emptied.array("id")}) AND w.id = e.id
   RETURNING w.id`,
  emptied,
);
