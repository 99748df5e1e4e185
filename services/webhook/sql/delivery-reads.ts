/** Deliveries as callers see them. */
import { statement, type Queryable, type Statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant, Range } from "#shared/values/time.ts";
import type { AttemptEntry } from "../domain/attempt-entry.ts";

export type DeliveryStatusName = "pending" | "delivered" | "failed" | "cancelled";
export type DeliveryTriggerName = "live" | "replay" | "manual" | "test";

/** A row of webhook.deliveries, without its attempts. */
export interface DeliveryRow {
  property_id: Uuid;
  id: Uuid;
  endpoint_id: Uuid;
  message_id: Uuid;
  type: string;
  trigger: DeliveryTriggerName;
  status: DeliveryStatusName;
  attempts: number;
  due_at: Micros | null;
  response_status: number | null;
  error: string | null;
  created_at: Micros;
  updated_at: Micros;
  completed_at: Micros | null;
}

const shown = `d.property_id, d.id, d.endpoint_id, d.message_id, d.type, d.trigger, d.status, d.attempts, d.due_at,
  d.response_status, d.error, d.created_at, d.updated_at, d.completed_at`;

/** Reads one with its attempts, and the body of its message; null once it was emptied. */
/** With LIMIT 1, so that no index of the lists is chosen over the primary key. */
export const readDelivery = statement<
  [property: Uuid, id: Uuid],
  DeliveryRow & { attempt_log: AttemptEntry[]; body: string | null }
>(
  "webhook.delivery_reads.read",
  `SELECT ${shown}, d.attempt_log, m.body
   FROM (SELECT * FROM webhook.deliveries WHERE property_id = $1 AND id = $2 LIMIT 1) AS d
   LEFT JOIN LATERAL (
     SELECT body FROM webhook.messages
     WHERE property_id = $1 AND id = d.message_id AND revision = d.revision LIMIT 1
   ) AS m ON true`,
);

/** Makes one pending, due at once, if its endpoint is enabled and its message is still there. */
export const retryDelivery = statement<[property: Uuid, id: Uuid, now: Instant], { id: Uuid }>(
  "webhook.delivery_reads.retry",
  `UPDATE webhook.deliveries d
   SET status = 'pending', trigger = 'manual', due_at = $3, updated_at = $3, completed_at = NULL
   FROM webhook.endpoints e, webhook.messages m
   WHERE d.property_id = $1 AND d.id = $2
     AND e.property_id = $1 AND e.id = d.endpoint_id AND e.status = 'enabled'
     AND m.property_id = $1 AND m.id = d.message_id AND m.revision = d.revision AND m.body IS NOT NULL
   RETURNING d.id`,
);

/** The conditions of a list; undefined means no condition. */
export interface DeliveryListValues {
  property: Uuid;
  /** Only to these. */
  endpoints: readonly Uuid[];
  status?: DeliveryStatusName | undefined;
  type?: string | undefined;
  /** Only of these types. */
  types?: readonly string[] | undefined;
  createdAt: Range;
  after?: { time: Instant; id: Uuid } | undefined;
  limit: number;
}

const statements = new Map<string, Statement<readonly unknown[], DeliveryRow>>();

/**
 * Reads one page, newest first. A statement has only the conditions that the list asks for. It reads a page of each
 * endpoint, by the index of endpoints, and merges the pages.
 */
export function listDeliveries(database: Queryable, values: DeliveryListValues): Promise<DeliveryRow[]> {
  const parameters: unknown[] = [values.property, values.endpoints, values.limit];
  const add = (value: unknown): string => `$${parameters.push(value)}`;
  const { status, type, types, createdAt, after } = values;
  const conditions = [
    "d.property_id = $1",
    "d.endpoint_id = whose.endpoint",
    // Literal, so that the index of those that failed serves them.
    ...(status === undefined ? [] : [`d.status = '${status}'`]),
    ...(status === "failed" || status === "cancelled" ? ["d.status IN ('failed', 'cancelled')"] : []),
    ...(type === undefined ? [] : [`d.type = ${add(type)}`]),
    ...(types === undefined ? [] : [`d.type = ANY(${add(types)}::text[])`]),
    ...(createdAt.from === undefined ? [] : [`d.created_at >= ${add(createdAt.from)}`]),
    ...(createdAt.before === undefined ? [] : [`d.created_at < ${add(createdAt.before)}`]),
    ...(after === undefined ? [] : [`(d.created_at, d.id) < (${add(after.time)}, ${add(after.id)})`]),
  ];
  const text = `SELECT d.* FROM unnest($2::uuid[]) AS whose (endpoint)
   CROSS JOIN LATERAL (
     SELECT ${shown} FROM webhook.deliveries d WHERE ${conditions.join(" AND ")}
     ORDER BY d.created_at DESC, d.id DESC LIMIT $3
   ) d
   ORDER BY d.created_at DESC, d.id DESC LIMIT $3`;
  const list =
    statements.get(text) ??
    statement<readonly unknown[], DeliveryRow>(`webhook.delivery_reads.list.${statements.size}`, text);
  statements.set(text, list);
  return list(database, parameters);
}

/** Finds the place of a delivery in lists. */
export const findPlace = statement<[property: Uuid, id: Uuid], { created_at: Micros }>(
  "webhook.delivery_reads.find_place",
  `SELECT created_at FROM webhook.deliveries WHERE property_id = $1 AND id = $2`,
);

/** Counts the newest deliveries by endpoint and state, at most so many. */
export const countRecent = statement<
  [property: Uuid, since: Instant, rowsMax: number],
  { endpoint_id: Uuid; status: DeliveryStatusName; count: number }
>(
  "webhook.delivery_reads.count_recent",
  `SELECT endpoint_id, status, count(*) AS count FROM (
     SELECT endpoint_id, status FROM webhook.deliveries
     WHERE property_id = $1 AND created_at >= $2 ORDER BY created_at DESC, id DESC LIMIT $3
   ) AS recent
   GROUP BY endpoint_id, status`,
);

/** Of each endpoint of a property: until when its breaker is open, and how many deliveries wait, at most so many. */
export const describeWaiting = statement<
  [property: Uuid, rowsMax: number],
  { id: Uuid; paused_until: Micros | null; pending: number }
>(
  "webhook.delivery_reads.describe_waiting",
  `SELECT e.id, h.paused_until, w.pending
   FROM webhook.endpoints e
   LEFT JOIN webhook.endpoint_health h ON h.property_id = $1 AND h.endpoint_id = e.id
   CROSS JOIN LATERAL (
     SELECT count(*) AS pending FROM (
       SELECT FROM webhook.deliveries WHERE property_id = $1 AND endpoint_id = e.id AND status = 'pending' LIMIT $2
     ) AS waiting
   ) AS w
   WHERE e.property_id = $1`,
);
