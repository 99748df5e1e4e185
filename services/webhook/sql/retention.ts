/** What is deleted by its age, a property at a time. */
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

type Deleting = [property: Uuid, before: Instant, rowsMax: number];

/** Deletes deliveries that were made before an instant. */
export const deleteOldDeliveries = statement<Deleting, { deleted: boolean }>(
  "webhook.retention.delete_deliveries",
  `DELETE FROM webhook.deliveries WHERE property_id = $1 AND id = ANY(ARRAY(
     SELECT id FROM webhook.deliveries WHERE property_id = $1 AND created_at < $2 ORDER BY created_at, id LIMIT $3
   ))
   RETURNING true AS deleted`,
);

/** Deletes messages that were made before an instant and have no delivery any more, such as one of a replay. */
export const deleteOldMessages = statement<Deleting, { deleted: boolean }>(
  "webhook.retention.delete_messages",
  `DELETE FROM webhook.messages WHERE property_id = $1 AND id = ANY(ARRAY(
     SELECT m.id FROM webhook.messages m
     WHERE m.property_id = $1 AND m.created_at < $2 AND NOT EXISTS (
       SELECT FROM webhook.deliveries d WHERE d.property_id = $1 AND d.message_id = m.id
     )
     ORDER BY m.created_at, m.id LIMIT $3
   ))
   RETURNING true AS deleted`,
);

/** Forgets profiles that were redacted before an instant. */
export const forgetRedacted = statement<Deleting, { deleted: boolean }>(
  "webhook.retention.forget_redacted",
  `DELETE FROM webhook.redacted_profiles WHERE property_id = $1 AND profile_id = ANY(ARRAY(
     SELECT profile_id FROM webhook.redacted_profiles
     WHERE property_id = $1 AND redacted_at < $2 ORDER BY redacted_at LIMIT $3
   ))
   RETURNING true AS deleted`,
);

/** Forgets events that were linked before an instant. */
export const forgetLinked = statement<Deleting, { deleted: boolean }>(
  "webhook.retention.forget_linked",
  `DELETE FROM webhook.linked_events WHERE property_id = $1 AND event_id = ANY(ARRAY(
     SELECT event_id FROM webhook.linked_events
     WHERE property_id = $1 AND linked_at < $2 ORDER BY linked_at LIMIT $3
   ))
   RETURNING true AS deleted`,
);
