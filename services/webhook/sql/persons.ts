/** Messages of profiles: which profile they are of, and their redaction. */
import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** Notes redacted profiles, so that what comes late of them is not kept. */
export const noteRedacted = statement<[property: Uuid, profiles: readonly Uuid[], now: Instant]>(
  "webhook.persons.note_redacted",
  `INSERT INTO webhook.redacted_profiles (property_id, profile_id, redacted_at)
   SELECT $1, profile_id, $3 FROM unnest($2::uuid[]) AS p (profile_id) ORDER BY profile_id
   ON CONFLICT (property_id, profile_id) DO UPDATE SET redacted_at = excluded.redacted_at`,
);

/** Which of some profiles were redacted. */
export const findRedacted = statement<[property: Uuid, profiles: readonly Uuid[]], { profile_id: Uuid }>(
  "webhook.persons.find_redacted",
  `SELECT profile_id FROM webhook.redacted_profiles WHERE property_id = $1 AND profile_id = ANY($2::uuid[])`,
);

/** A page of the messages of profiles. */
export const pageMessagesOf = statement<
  [property: Uuid, profiles: readonly Uuid[], after: Uuid, rowsMax: number],
  { id: Uuid }
>(
  "webhook.persons.page_messages",
  `SELECT DISTINCT m.id FROM unnest($2::uuid[]) AS whose (profile)
   CROSS JOIN LATERAL (
     SELECT id FROM webhook.messages WHERE property_id = $1 AND profile_id = whose.profile AND id > $3
     ORDER BY id LIMIT $4
   ) m
   ORDER BY m.id LIMIT $4`,
);

/** Empties messages, except that a profile was redacted, which says nothing of a person. */
export const emptyMessages = statement<[property: Uuid, ids: readonly Uuid[]]>(
  "webhook.persons.empty_messages",
  `UPDATE webhook.messages SET body = NULL
   WHERE property_id = $1 AND id = ANY($2::uuid[]) AND body IS NOT NULL AND type <> 'profile.redacted'`,
);

/** Notes that messages of a property were emptied, for those who have them in memory. */
export const noteEmptied = statement<[property: Uuid]>(
  "webhook.persons.note_emptied",
  `UPDATE webhook.properties SET emptied_count = emptied_count + 1 WHERE property_id = $1`,
);

/** Cancels what is pending of messages that were emptied. */
export const cancelDeliveriesOf = statement<[property: Uuid, messages: readonly Uuid[], now: Instant]>(
  "webhook.persons.cancel_deliveries",
  `UPDATE webhook.deliveries SET status = 'cancelled', due_at = NULL, updated_at = $3, completed_at = $3
   WHERE property_id = $1 AND message_id = ANY($2::uuid[]) AND status = 'pending' AND type <> 'profile.redacted'`,
);

/** Removes what receivers answered to messages. */
export const emptyExcerpts = statement<[property: Uuid, messages: readonly Uuid[]]>(
  "webhook.persons.empty_excerpts",
  `UPDATE webhook.deliveries
   SET attempt_log = (
     SELECT jsonb_agg(entry - 'excerpt' ORDER BY place)
     FROM jsonb_array_elements(attempt_log) WITH ORDINALITY AS log (entry, place)
   )
   WHERE property_id = $1 AND message_id = ANY($2::uuid[]) AND attempt_log::text LIKE '%"excerpt"%'`,
);

/** Counts the bodies of profiles. */
export const countBodies = statement<[property: Uuid, profiles: readonly Uuid[]], { count: number }>(
  "webhook.persons.count_bodies",
  `SELECT count(DISTINCT id) AS count FROM webhook.messages
   WHERE property_id = $1 AND profile_id = ANY($2::uuid[]) AND body IS NOT NULL AND type <> 'profile.redacted'`,
);

const links = columns(3, { event_id: "uuid", profile_id: "uuid" });

/** Notes anonymous events that gained a profile. */
export const noteLinked = statement<[property: Uuid, now: Instant, links: Rows<typeof links>]>(
  "webhook.persons.note_linked",
  `INSERT INTO webhook.linked_events (property_id, event_id, profile_id, linked_at)
   SELECT DISTINCT ON (l.event_id) $1, l.event_id, l.profile_id, $2::timestamptz FROM ${links.as("l")} ORDER BY l.event_id
   ON CONFLICT (property_id, event_id) DO NOTHING`,
  links,
);

/** Gives messages of events that gained a profile that profile. Returns the profiles. */
export const linkMessages = statement<[property: Uuid, events: readonly Uuid[]], { profile_id: Uuid }>(
  "webhook.persons.link_messages",
  `UPDATE webhook.messages m SET profile_id = l.profile_id
   FROM webhook.linked_events l
   WHERE m.property_id = $1 AND m.event_id = ANY($2::uuid[]) AND m.profile_id IS NULL
     AND l.property_id = $1 AND l.event_id = ANY($2::uuid[]) AND l.event_id = m.event_id
   RETURNING m.profile_id`,
);

/** A page of messages of events that have no profile. */
export const pageAnonymous = statement<[property: Uuid, after: Uuid, rowsMax: number], { id: Uuid; event_id: Uuid }>(
  "webhook.persons.page_anonymous",
  `SELECT DISTINCT id, event_id FROM webhook.messages
   WHERE property_id = $1 AND event_id IS NOT NULL AND profile_id IS NULL AND body IS NOT NULL AND id > $2
   ORDER BY id LIMIT $3`,
);

/** A page of the reports of refused writes, which are few: one for each key in ten minutes. */
export const pageReports = statement<[property: Uuid, after: Uuid, rowsMax: number], { id: Uuid; body: string }>(
  "webhook.persons.page_reports",
  `SELECT id, body FROM webhook.messages
   WHERE property_id = $1 AND type = 'rejected_writes.reported' AND body IS NOT NULL AND id > $2
   ORDER BY id LIMIT $3`,
);
