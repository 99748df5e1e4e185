/** Privacy requests. Times are parameters, so that one clock makes them all. */
import type { Micros } from "#shared/values/clock.ts";
import { plannedStatement, statement, type Queryable } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { NormalIdentifier } from "#shared/values/identifiers.ts";
import type { Instant, Range } from "#shared/values/time.ts";

/** The type of a request. */
export type RequestType = "access" | "erasure";
/** The status of a request. */
export type RequestStatus = "pending" | "in_progress" | "completed" | "failed" | "cancelled";
/** What the worker does next. */
export type RequestStep = "begin" | "count" | "erase" | "sweep" | "close";

/** What was found of a person, by the names of the contract. */
export type Counts = Partial<
  Record<
    | "profiles"
    | "identifiers"
    | "events"
    | "anonymous_events"
    | "webhook_messages"
    | "rejected_writes"
    | "import_errors",
    number
  >
>;

/** Identifiers that the work needs: those that were named, and all that the person was known by. */
export interface Held {
  named: NormalIdentifier[];
  known: NormalIdentifier[];
}

/** What callers see of a request. */
export interface RequestRow {
  property_id: Uuid;
  id: Uuid;
  type: RequestType;
  status: RequestStatus;
  subject_profile_id: Uuid | null;
  subject_identifiers: { type: string; display_value: string }[];
  profile_ids: Uuid[];
  regulation: string | null;
  reference: string | null;
  submitted_at: Micros;
  due_at: Micros;
  not_before: Micros | null;
  suppress: boolean;
  counts: Counts | null;
  not_reached: string[];
  as_of: Micros | null;
  download_until: Micros | null;
  failure: { code: string; message: string } | null;
  created_by: string;
  created_at: Micros;
  updated_at: Micros;
  completed_at: Micros | null;
}

/** The columns of a RequestRow. */
export const requestColumns = `
  property_id, id, type, status, subject_profile_id, subject_identifiers, profile_ids, regulation, reference,
  submitted_at, due_at, not_before, suppress, counts, not_reached, as_of, download_until, failure, created_by,
  created_at, updated_at, completed_at`;

/** Adds a request. Returns no row when the property has one of its id, or one of its type with its reference. */
export const insertRequest = statement<
  [
    property: Uuid,
    id: Uuid,
    type: RequestType,
    subjectProfile: Uuid | null,
    subjectIdentifiers: string,
    regulation: string | null,
    reference: string | null,
    submittedAt: Instant,
    dueAt: Instant,
    notBefore: Instant | null,
    suppress: boolean,
    createdBy: string,
    createdAt: Instant,
    held: string,
    nextAt: Instant,
    profiles: readonly Uuid[],
  ],
  RequestRow
>(
  "profile.privacy_requests.insert",
  `INSERT INTO profile.privacy_requests (
     property_id, id, type, subject_profile_id, subject_identifiers, regulation, reference, submitted_at, due_at,
     not_before, suppress, created_by, created_at, updated_at, held, next_at, profile_ids
   )
   VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14::jsonb, $15, $16::uuid[])
   ON CONFLICT DO NOTHING
   RETURNING ${requestColumns}`,
);

export const readRequest = statement<[property: Uuid, id: Uuid], RequestRow>(
  "profile.privacy_requests.read",
  `SELECT ${requestColumns} FROM profile.privacy_requests WHERE property_id = $1 AND id = $2`,
);

export const findRequestByReference = statement<[property: Uuid, reference: string, type: RequestType], RequestRow>(
  "profile.privacy_requests.find_by_reference",
  `SELECT ${requestColumns} FROM profile.privacy_requests WHERE property_id = $1 AND reference = $2 AND type = $3`,
);

/** What the stream of an access request is made of. */
export const readHeld = statement<[property: Uuid, id: Uuid], { held: Held | null }>(
  "profile.privacy_requests.read_held",
  `SELECT held FROM profile.privacy_requests WHERE property_id = $1 AND id = $2`,
);

/** Cancels a request that has not begun. Returns no row for any other. */
export const cancelRequest = statement<[property: Uuid, id: Uuid, now: Instant], RequestRow>(
  "profile.privacy_requests.cancel",
  `UPDATE profile.privacy_requests
   SET status = 'cancelled', updated_at = $3, completed_at = $3, held = NULL, next_at = NULL, claim = NULL
   WHERE property_id = $1 AND id = $2 AND status = 'pending' AND as_of IS NULL
   RETURNING ${requestColumns}`,
);

/** Makes a failed request pending again, from its beginning. What was counted stays. Returns no row for any other. */
export const retryRequest = statement<[property: Uuid, id: Uuid, now: Instant], RequestRow>(
  "profile.privacy_requests.retry",
  `UPDATE profile.privacy_requests
   SET status = 'pending', failure = NULL, updated_at = $3, completed_at = NULL, step = 'begin', next_at = $3, tries = 0,
       claim = NULL, reports = '{}'
   WHERE property_id = $1 AND id = $2 AND status = 'failed'
   RETURNING ${requestColumns}`,
);

/** The conditions of a list; undefined means no condition. */
export interface ListValues {
  property: Uuid;
  type?: RequestType | undefined;
  statuses?: readonly RequestStatus[] | undefined;
  profile?: Uuid | undefined;
  reference?: string | undefined;
  dueAt: Range;
  createdAt: Range;
  /** The list begins after this id. */
  after?: Uuid | undefined;
  limit: number;
}

/** Reads one page, newest first. A statement has only the conditions that the list asks for. */
export function listRequests(database: Queryable, values: ListValues): Promise<RequestRow[]> {
  const parameters: unknown[] = [values.property];
  const add = (value: unknown): string => `$${parameters.push(value)}`;
  const within = (column: string, { from, before }: Range): string[] => [
    ...(from === undefined ? [] : [`${column} >= ${add(from)}`]),
    ...(before === undefined ? [] : [`${column} < ${add(before)}`]),
    // Allows the index of the column.
    ...(from === undefined && before === undefined ? [] : [`${column} > '-infinity'`]),
  ];
  const conditions = [
    "property_id = $1",
    ...(values.type === undefined ? [] : [`type = ${add(values.type)}`]),
    ...(values.profile === undefined
      ? []
      : [`profile_ids <> '{}' AND profile_ids @> ARRAY[${add(values.profile)}::uuid]`]),
    ...(values.reference === undefined ? [] : [`reference = ${add(values.reference)}`]),
    ...within("due_at", values.dueAt),
    ...within("created_at", values.createdAt),
    ...(values.after === undefined ? [] : [`id < ${add(values.after)}`]),
  ];
  const limit = add(values.limit);
  const { profile, reference, dueAt, createdAt } = values;
  const bounds = [profile, reference, dueAt.from, dueAt.before, createdAt.from, createdAt.before];
  // OFFSET 0 keeps such a condition with its index: in the order of ids all newer requests would be read.
  const fence = bounds.some((bound) => bound !== undefined) ? "OFFSET 0" : "";
  const page = (more: string[]): string =>
    `SELECT * FROM (
       SELECT ${requestColumns} FROM profile.privacy_requests WHERE ${[...conditions, ...more].join(" AND ")} ${fence}
     ) AS found
     ORDER BY id DESC LIMIT ${limit}`;
  // A page of each status by its index, because few requests of many may be open.
  const text =
    values.statuses === undefined
      ? page([])
      : `SELECT r.* FROM unnest(${add(values.statuses)}::text[]) AS wanted (name)
         CROSS JOIN LATERAL (${page(["status = wanted.name"])}) r
         ORDER BY r.id DESC LIMIT ${limit}`;
  return plannedStatement<readonly unknown[], RequestRow>(text)(database, parameters);
}

/** Counts the open and the failed requests of all properties. */
export const countRequests = statement<
  [now: Instant, soon: Instant],
  { open: number; overdue: number; due_soon: number; failed: number }
>(
  "profile.privacy_requests.count",
  `SELECT (SELECT count(*) FROM profile.privacy_requests WHERE status IN ('pending', 'in_progress')) AS open,
          (SELECT count(*) FROM profile.privacy_requests
           WHERE status IN ('pending', 'in_progress') AND due_at < $1) AS overdue,
          (SELECT count(*) FROM profile.privacy_requests
           WHERE status IN ('pending', 'in_progress') AND due_at >= $1 AND due_at < $2) AS due_soon,
          (SELECT count(*) FROM profile.privacy_requests WHERE status = 'failed') AS failed`,
);
