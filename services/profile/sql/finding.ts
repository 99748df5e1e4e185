/** Finds profiles by what a person types. */
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";

/**
 * The types of the identifiers of a property, in order. Reads one entry of the index for each (a loose index scan),
 * however many identifiers there are.
 */
export const findIdentifierTypes = statement<[property: Uuid, typesMax: number], { type: string }>(
  "profile.finding.identifier_types",
  `WITH RECURSIVE found AS (
     SELECT first.type, 1 AS place FROM (
       SELECT type FROM profile.identifiers WHERE property_id = $1 ORDER BY type LIMIT 1
     ) AS first
     UNION ALL
     SELECT next.type, found.place + 1
     FROM found
     CROSS JOIN LATERAL (
       SELECT type FROM profile.identifiers WHERE property_id = $1 AND type > found.type ORDER BY type LIMIT 1
     ) AS next
     WHERE found.place < $2
   )
   SELECT type FROM found ORDER BY place`,
);

/** The profile with a compact reference, if the property has them. */
export const findByRef = statement<[property: Uuid, profileRef: string], { id: Uuid }>(
  "profile.finding.by_ref",
  `SELECT id FROM profile.profiles
   WHERE property_id = $1 AND profile_ref = $2
     AND EXISTS (SELECT FROM profile.ref_properties WHERE property_id = $1 AND enabled)`,
);
