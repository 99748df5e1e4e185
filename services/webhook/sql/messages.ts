/** Messages, and the deliveries that are made with them. */
import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import type { Subscriber } from "../domain/happening.ts";

/** Enabled endpoints of properties. */
export const findSubscribers = statement<
  [properties: readonly Uuid[]],
  Subscriber & { property_id: Uuid; livemode: boolean }
>(
  "webhook.messages.find_subscribers",
  `SELECT p.property_id, p.livemode, e.id, e.types, e.event_types, e.sources, e.revision
   FROM webhook.properties p
   CROSS JOIN LATERAL (
     SELECT id, types, event_types, sources, revision FROM webhook.endpoints
     WHERE property_id = p.property_id AND status = 'enabled' AND last_delivery_id IS NULL LIMIT 2000
   ) e
   WHERE p.property_id = ANY($1::uuid[])`,
);

const messages = columns(3, {
  id: "uuid",
  revision: "text",
  type: "text",
  event_id: "uuid?",
  profile_id: "uuid?",
  body: "text",
});
export type MessageRow = Rows<typeof messages>[number];

const deliveries = columns(messages.next, {
  id: "uuid",
  endpoint_id: "uuid",
  message_id: "uuid",
  revision: "text",
  type: "text",
  trigger: "text",
  due_at: "timestamptz",
});
export type NewDeliveryRow = Rows<typeof deliveries>[number];

/**
 * Stores messages and their deliveries. What is stored already stays as it is. Of a profile that was
 * redacted nothing is stored, except that it was. Inserts in the order of ids, so that repeats never deadlock.
 */
export const storeMessages = statement<
  [property: Uuid, now: Instant, messages: Rows<typeof messages>, deliveries: Rows<typeof deliveries>],
  { id: Uuid; endpoint_id: Uuid }
>(
  "webhook.messages.store",
  `WITH kept AS (
     SELECT m.* FROM ${messages.as("m")}
     WHERE m.profile_id IS NULL OR m.type = 'profile.redacted' OR NOT EXISTS (
       SELECT FROM webhook.redacted_profiles r WHERE r.property_id = $1 AND r.profile_id = m.profile_id
     )
   ), stored AS (
     INSERT INTO webhook.messages (property_id, id, revision, type, event_id, profile_id, body, created_at)
     SELECT $1, id, revision, type, event_id, profile_id, body, $2 FROM kept
     ORDER BY id, revision
     ON CONFLICT (property_id, id, revision) DO NOTHING
   )
   INSERT INTO webhook.deliveries (property_id, id, endpoint_id, message_id, revision, type, trigger, status, due_at,
     created_at, updated_at)
   SELECT $1, d.id, d.endpoint_id, d.message_id, d.revision, d.type, d.trigger, 'pending', d.due_at, $2, $2
   FROM ${deliveries.as("d")}
   WHERE d.message_id IN (SELECT id FROM kept)
   ORDER BY d.id
   ON CONFLICT (property_id, id) DO NOTHING
   RETURNING id, endpoint_id`,
  messages,
  deliveries,
);
