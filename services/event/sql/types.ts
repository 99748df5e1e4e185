import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";

/** Reads the number of types of a property, and locks it until the end of the transaction. */
export const lockTypeCount = statement<[property: Uuid], { count: number }>(
  "event.types.lock_count",
  `INSERT INTO event.type_counts AS c (property_id, count) VALUES ($1, 0)
   ON CONFLICT (property_id) DO UPDATE SET count = c.count
   RETURNING count`,
);

/** Finds those of `types` that a property has. */
export const findTypes = statement<[property: Uuid, types: readonly string[]], { type: string }>(
  "event.types.find",
  `SELECT t.type
   FROM unnest($2::text[]) AS wanted (type)
   CROSS JOIN LATERAL (SELECT type FROM event.types WHERE property_id = $1 AND type = wanted.type LIMIT 1) t`,
);

/** Adds types, none of which the property may have yet. */
export const insertTypes = statement<[property: Uuid, types: readonly string[]]>(
  "event.types.insert",
  `WITH added AS (INSERT INTO event.types (property_id, type) SELECT $1, type FROM unnest($2::text[]) AS t (type) RETURNING 1)
   UPDATE event.type_counts SET count = count + (SELECT count(*) FROM added) WHERE property_id = $1`,
);
