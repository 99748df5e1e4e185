/** Links, empties and finds events of profiles. Updates limit their rows, so that locks are held briefly. */
import type { Micros } from "#shared/values/clock.ts";
import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** The identifiers of the anonymous events among `ids`. One look-up each, as in events.ts. */
export const findAnonymous = statement<[property: Uuid, ids: readonly Uuid[]], { type: string; value: string }>(
  "event.profile_events.find_anonymous",
  `SELECT DISTINCT e.identifier_type AS type, e.identifier_value AS value
   FROM unnest($2::uuid[]) AS wanted (event_id)
   CROSS JOIN LATERAL (
     SELECT identifier_type, identifier_value FROM event.events WHERE property_id = $1 AND id = wanted.event_id LIMIT 1
   ) e
   WHERE e.identifier_type IS NOT NULL`,
);

const identifiers = columns(2, { type: "text", value: "text" });

/** Finds the identifiers that have anonymous events. */
export const findAnonymousUnder = statement<
  [property: Uuid, identifiers: Rows<typeof identifiers>],
  { type: string; value: string }
>(
  "event.profile_events.find_anonymous_under",
  `SELECT w.type, w.value
   FROM ${identifiers.as("w")}
   CROSS JOIN LATERAL (
     SELECT FROM event.events WHERE property_id = $1 AND identifier_type = w.type AND identifier_value = w.value LIMIT 1
   ) e`,
  identifiers,
);

/** The fields of a linked event that are counted. */
export interface LinkedRow {
  id: Uuid;
  type: string;
  occurred_at: Micros;
  source: string;
  currency: string | null;
}

/** Links anonymous events to a profile. Returns one row for each. */
export const linkEvents = statement<
  [property: Uuid, profile: Uuid, identifierType: string, identifierValue: string, rowsMax: number],
  LinkedRow
>(
  "event.profile_events.link",
  `UPDATE event.events SET profile_id = $2, identifier_type = NULL, identifier_value = NULL
   WHERE property_id = $1 AND id = ANY(ARRAY(
     SELECT id FROM event.events WHERE property_id = $1 AND identifier_type = $3 AND identifier_value = $4
     LIMIT $5
   ))
   RETURNING id, type, occurred_at, source, currency`,
);

/** Deletes the personal data of events: properties and dedupe_id. Returns one row for each. */
export const emptyEvents = statement<
  [property: Uuid, profiles: readonly Uuid[], rowsMax: number],
  { emptied: boolean }
>(
  "event.profile_events.empty",
  `UPDATE event.events SET properties = '{}', dedupe_id = NULL
   WHERE property_id = $1 AND id = ANY(ARRAY(
     SELECT id FROM event.events
     WHERE property_id = $1 AND profile_id = ANY($2::uuid[]) AND (properties::text <> '{}' OR dedupe_id IS NOT NULL)
     LIMIT $3
   ))
   RETURNING true AS emptied`,
);

/** A page of the anonymous events under an identifier. */
export const findAnonymousEvents = statement<
  [property: Uuid, identifierType: string, identifierValue: string, rowsMax: number],
  { id: Uuid }
>(
  "event.profile_events.find_anonymous_events",
  `SELECT id FROM event.events WHERE property_id = $1 AND identifier_type = $2 AND identifier_value = $3 LIMIT $4`,
);

/** Counts the events of profiles that were received up to an instant. */
export const countReceived = statement<
  [property: Uuid, profiles: readonly Uuid[], receivedUpTo: Instant],
  { count: number }
>(
  "event.profile_events.count_received",
  `SELECT COALESCE(sum(e.count), 0)::bigint AS count
   FROM unnest($2::uuid[]) AS whose (profile)
   CROSS JOIN LATERAL (
     SELECT count(*) AS count FROM event.events
     WHERE property_id = $1 AND profile_id = whose.profile AND received_at <= $3
   ) e`,
);

/** Counts the anonymous events under an identifier that were received up to an instant. */
export const countAnonymousEvents = statement<
  [property: Uuid, identifierType: string, identifierValue: string, receivedUpTo: Instant],
  { count: number }
>(
  "event.profile_events.count_anonymous_events",
  `SELECT count(*) AS count FROM event.events
   WHERE property_id = $1 AND identifier_type = $2 AND identifier_value = $3 AND received_at <= $4`,
);

/** Deletes the personal data of anonymous events: identifier, properties and dedupe_id. Returns one row for each. */
export const emptyAnonymousEvents = statement<[property: Uuid, ids: readonly Uuid[]], { id: Uuid }>(
  "event.profile_events.empty_anonymous",
  `UPDATE event.events SET identifier_type = NULL, identifier_value = NULL, properties = '{}', dedupe_id = NULL
   WHERE property_id = $1 AND id = ANY($2::uuid[]) AND identifier_type IS NOT NULL
   RETURNING id`,
);

/**
 * A page of a profile's events that were received since an instant. Ordered as the index of profiles, so that the index
 * of received_at is not chosen.
 */
export const findReceivedSince = statement<
  [property: Uuid, profile: Uuid, receivedSince: Instant, afterOccurredAt: Instant, afterId: Uuid, rowsMax: number],
  { id: Uuid; occurred_at: Micros }
>(
  "event.profile_events.find_received_since",
  `SELECT id, occurred_at FROM event.events
   WHERE property_id = $1 AND profile_id = $2 AND received_at >= $3 AND (occurred_at, id) > ($4, $5)
   ORDER BY occurred_at, id LIMIT $6`,
);

// One row for each id under which a profile has events: its own, and those of profiles merged into it.
const idsOfProfiles = columns(2, { profile_id: "uuid", id: "uuid" });

/** The time of the last event of each profile, system events excluded. */
export const findLastEvents = statement<
  [property: Uuid, ids: Rows<typeof idsOfProfiles>],
  { profile_id: Uuid; occurred_at: Micros }
>(
  "event.profile_events.find_last",
  `SELECT w.profile_id, max(e.occurred_at) AS occurred_at
   FROM ${idsOfProfiles.as("w")}
   CROSS JOIN LATERAL (
     SELECT occurred_at FROM event.events WHERE property_id = $1 AND profile_id = w.id AND source <> 'system'
     ORDER BY occurred_at DESC, id DESC LIMIT 1
   ) e
   GROUP BY w.profile_id`,
  idsOfProfiles,
);
