/** Pages of all events of a person, as they are stored: merges are not followed. */
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import { eventColumns, type EventRow } from "./events.ts";

/** A page of the events that were recorded for a profile. In the order of the index of profiles. */
export const exportProfileEvents = statement<
  [property: Uuid, profile: Uuid, receivedUpTo: Instant, afterOccurredAt: Instant, afterId: Uuid, rowsMax: number],
  EventRow
>(
  "event.exports.of_profile",
  `SELECT ${eventColumns} FROM event.events
   WHERE property_id = $1 AND profile_id = $2 AND received_at <= $3 AND (occurred_at, id) > ($4, $5)
   ORDER BY occurred_at, id LIMIT $6`,
);

/** A page of the anonymous events under an identifier. In the order of the index of identifiers. */
export const exportAnonymousEvents = statement<
  [
    property: Uuid,
    identifierType: string,
    identifierValue: string,
    receivedUpTo: Instant,
    afterId: Uuid,
    rowsMax: number,
  ],
  EventRow
>(
  "event.exports.anonymous",
  `SELECT ${eventColumns} FROM event.events
   WHERE property_id = $1 AND identifier_type = $2 AND identifier_value = $3 AND received_at <= $4 AND id > $5
   ORDER BY identifier_type, identifier_value, id LIMIT $6`,
);
