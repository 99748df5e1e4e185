import { statement } from "#shared/database/postgres.ts";

/** Adds messages of one subject, each to be published after its delay. */
export const insertMessages = statement(
  "profile.outbox.insert",
  `INSERT INTO profile.outbox (property_id, id, subject, payload, available_at)
   SELECT $1, o.id, $3, o.payload, now() + o.delay * interval '1 second'
   FROM unnest($2::uuid[], $4::bytea[], $5::integer[]) AS o (id, payload, delay)`,
);
