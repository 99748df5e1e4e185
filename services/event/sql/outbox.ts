import { statement } from "#shared/database/postgres.ts";

/** Adds a message. $1 property_id, $2 id, $3 subject, $4 payload */
export const insertMessage = statement(
  "event.outbox.insert",
  `INSERT INTO event.outbox (property_id, id, subject, payload) VALUES ($1, $2, $3, $4)`,
);
