import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";

/** Adds a message. */
export const insertMessage = statement<[property: Uuid, id: Uuid, subject: string, payload: Buffer]>(
  "event.outbox.insert",
  `INSERT INTO event.outbox (property_id, id, subject, payload) VALUES ($1, $2, $3, $4)`,
);
