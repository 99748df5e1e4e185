/** Suppressions: identifiers that are kept out, as digests. */
import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** A suppression; its digest is shown to nobody. */
export interface SuppressionRow {
  id: Uuid;
  type: string;
  privacy_request_id: Uuid;
  created_at: Micros;
}

/**
 * Keeps only suppressed identifiers; $1 is the property. One without suppressions has no key, so this costs a look at
 * an empty index.
 * @param of a table with the columns `type` and `value`, which stands before it.
 */
export function barredBySuppression(of: string): string {
  return `CROSS JOIN LATERAL (${lookUp(of)}) barred`;
}

/** The opposite, as a condition. */
export function unlessSuppressed(of: string): string {
  return `WHERE NOT EXISTS (${lookUp(of)})`;
}

function lookUp(of: string): string {
  return `SELECT FROM profile.suppression_keys k CROSS JOIN LATERAL (
       SELECT FROM profile.suppressions
       WHERE property_id = $1 AND digest = ${digestOf(`${of}.type`, `${of}.value`)} LIMIT 1
     ) s
     WHERE k.property_id = $1`;
}

function digestOf(type: string, value: string): string {
  return `sha256(k.outer_key || sha256(k.inner_key || convert_to(${type} || ' ' || ${value}, 'UTF8')))`;
}

/** Gives a property its key, if it has none. */
export const insertSuppressionKey = statement<[property: Uuid, innerKey: Buffer, outerKey: Buffer]>(
  "profile.suppressions.insert_key",
  `INSERT INTO profile.suppression_keys (property_id, inner_key, outer_key) VALUES ($1, $2, $3)
   ON CONFLICT (property_id) DO NOTHING`,
);

const wanted = columns(4, { id: "uuid", type: "text", value: "text" });

/** Suppresses identifiers. One that is suppressed already stays as it is. */
export const insertSuppressions = statement<
  [property: Uuid, request: Uuid, now: Instant, identifiers: Rows<typeof wanted>]
>(
  "profile.suppressions.insert",
  `INSERT INTO profile.suppressions (property_id, id, type, digest, privacy_request_id, created_at)
   SELECT $1, w.id, w.type, ${digestOf("w.type", "w.value")}, $2, $3
   FROM ${wanted.as("w")} CROSS JOIN profile.suppression_keys k
   WHERE k.property_id = $1
   ORDER BY 4
   ON CONFLICT (property_id, digest) DO NOTHING
   RETURNING id`,
  wanted,
);

export const listSuppressions = statement<[property: Uuid, after: Uuid, limit: number], SuppressionRow>(
  "profile.suppressions.list",
  `SELECT id, type, privacy_request_id, created_at FROM profile.suppressions
   WHERE property_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
);

export const deleteSuppression = statement<[property: Uuid, id: Uuid], { id: Uuid }>(
  "profile.suppressions.delete",
  `DELETE FROM profile.suppressions WHERE property_id = $1 AND id = $2 RETURNING id`,
);
