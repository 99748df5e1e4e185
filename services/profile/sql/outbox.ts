import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";

const messages = columns(4, { id: "uuid", payload: "bytea" });

/** Adds messages of one subject, which are due after a delay. */
export const insertMessages = statement<
  [property: Uuid, subject: string, delaySeconds: number, messages: Rows<typeof messages>]
>(
  "profile.outbox.insert",
  `INSERT INTO profile.outbox (property_id, id, subject, payload, available_at)
   SELECT $1, m.id, $2, m.payload, now() + $3::integer * interval '1 second'
   FROM ${messages.as("m")}
   RETURNING id`,
  messages,
);

/** A page of messages of a subject, published or not. */
export const readMessages = statement<
  [property: Uuid, subject: string, after: Uuid, limit: number],
  { id: Uuid; payload: Buffer }
>(
  "profile.outbox.read",
  `SELECT id, payload FROM profile.outbox WHERE property_id = $1 AND subject = $2 AND id > $3 ORDER BY id LIMIT $4`,
);
