import type { Micros } from "#shared/values/clock.ts";
import { columns, type Rows } from "#shared/database/columns.ts";
import { statement, type Statement } from "#shared/database/postgres.ts";
import type { RecordedRow, RequestClaims } from "#shared/once/request-claims.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import { claimColumns, insertClaims, type KeyClaims } from "./dedupe-keys.ts";

/** The columns of event.events that callers see. */
export interface EventRow {
  id: Uuid;
  type: string;
  profile_id: Uuid | null;
  properties: string;
  value: string | null;
  currency: string | null;
  occurred_at: Micros;
  received_at: Micros;
  dedupe_id: string | null;
  source: string;
  backfill: boolean;
}

/** An event with the identifier that it waits for, if it is anonymous. */
export interface NewEventRow extends EventRow {
  identifier_type: string | null;
  identifier_value: string | null;
}

const events = columns(3, {
  id: "uuid",
  type: "text",
  profile_id: "uuid?",
  identifier_type: "text?",
  identifier_value: "text?",
  properties: "json",
  value: "numeric?",
  currency: "text?",
  occurred_at: "timestamptz",
  dedupe_id: "text?",
  source: "text",
  backfill: "boolean",
});
const messages = columns(events.next, { id: "uuid", subject: "text", payload: "bytea" });

/** Inserts the events and the messages; $1 is the property, and $2 received_at. */
const insertion = `recorded AS (
     INSERT INTO event.events (property_id, id, type, profile_id, identifier_type, identifier_value, properties, value,
                               currency, occurred_at, received_at, dedupe_id, source, backfill)
     SELECT $1, e.id, e.type, e.profile_id, e.identifier_type, e.identifier_value, e.properties, e.value,
            e.currency, e.occurred_at, $2, e.dedupe_id, e.source, e.backfill
     FROM ${events.as("e")}
     RETURNING id
   )
   INSERT INTO event.outbox (property_id, id, subject, payload, received_at)
   SELECT $1, o.id, o.subject, o.payload, CASE WHEN o.subject = 'daybook.event.recorded' THEN $2 END
   FROM ${messages.as("o")}
   RETURNING id`;

/** The parameters of the statements that insert events. */
export type Insertion = [
  property: Uuid,
  receivedAt: Instant,
  events: Rows<typeof events>,
  messages: Rows<typeof messages>,
];

/**
 * Inserts events and the outbox rows that announce them, in one round trip and one transaction. RETURNING gives a
 * repeated id its SQLSTATE on every spread (see database/README.md).
 */
export const insertEvents = statement<Insertion>("event.events.insert", `WITH ${insertion}`, events, messages);

const keys = claimColumns(messages.next);

/** Like insertEvents, and claims keys too. Fails if one of them is held, or has expired and is still there. */
export const insertEventsWithKeys = statement<[...Insertion, keys: KeyClaims]>(
  "event.events.insert_with_keys",
  `WITH keys AS (${insertClaims(keys)} RETURNING key), ${insertion}`,
  events,
  messages,
  keys,
);

type InsertionWithRequests = [...Insertion, keys: KeyClaims, requests: readonly RecordedRow[]];

/** Like insertEventsWithKeys, with claims of requests. */
export function insertEventsWithRequests({
  insertion: claims,
}: RequestClaims): Statement<InsertionWithRequests, unknown> {
  const requests = claims.columns(keys.next);
  return statement<InsertionWithRequests>(
    "event.events.insert_with_requests",
    `WITH keys AS (${insertClaims(keys)} RETURNING key),
     requests AS (${claims.text(requests)} RETURNING key),
     ${insertion}`,
    events,
    messages,
    keys,
    requests,
  );
}

/** The columns of an EventRow. */
export const eventColumns =
  "id, type, profile_id, properties, value, currency, occurred_at, received_at, dedupe_id, source, backfill";

/** One look-up each (LATERAL with LIMIT 1), so that no index of the lists is chosen over the primary key. */
export const readEvents = statement<[property: Uuid, ids: readonly Uuid[]], EventRow>(
  "event.events.read",
  `SELECT ${eventColumns}
   FROM unnest($2::uuid[]) AS wanted (event_id)
   CROSS JOIN LATERAL (SELECT * FROM event.events WHERE property_id = $1 AND id = wanted.event_id LIMIT 1) e`,
);

/** Fails when the schema is missing. */
export const probe = statement<[]>("event.events.probe", `SELECT FROM event.events LIMIT 0`);
