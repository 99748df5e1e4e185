/** When keys and installations were last used. */
import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";

/** A column with the last use of a row. @param table that names keys or installations. */
export const lastUse = (table: string): string =>
  `(SELECT last_used_at FROM identity.caller_uses u
    WHERE u.property_id = ${table}.property_id AND u.caller_id = ${table}.id) AS last_used_at`;

const uses = columns(1, { property_id: "uuid", id: "uuid", used_at: "timestamptz" });

/**
 * Stores when callers were last used, unless a later time is stored. Unknown ones are skipped. They must be distinct.
 */
export const noteUse = statement<[uses: Rows<typeof uses>]>(
  "identity.caller_uses.note",
  `INSERT INTO identity.caller_uses AS u (property_id, caller_id, last_used_at)
   SELECT w.property_id, w.id, w.used_at
   FROM (
     SELECT * FROM ${uses.as("w")}
     ORDER BY property_id, id
   ) AS w
   CROSS JOIN LATERAL (
     (SELECT FROM identity.keys WHERE property_id = w.property_id AND id = w.id LIMIT 1)
     UNION ALL
     (SELECT FROM identity.installations WHERE property_id = w.property_id AND id = w.id LIMIT 1)
     LIMIT 1
   ) AS c
   ON CONFLICT (property_id, caller_id) DO UPDATE SET last_used_at = greatest(u.last_used_at, excluded.last_used_at)`,
  uses,
);
