/** Ordinals of profiles, and merges of profiles. */
import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";

/** Profiles without an ordinal give no row. */
export const findOrdinals = statement<
  [property: Uuid, profiles: readonly Uuid[]],
  { profile_id: Uuid; number: number }
>(
  "metric.profiles.find",
  `SELECT p.profile_id, p.number
   FROM unnest($2::uuid[]) AS wanted (id)
   CROSS JOIN LATERAL (
     SELECT profile_id, number FROM metric.profiles WHERE property_id = $1 AND profile_id = wanted.id LIMIT 1
   ) p`,
);

const ordinals = columns(2, { profile_id: "uuid", number: "integer" });

export const insertOrdinals = statement<[property: Uuid, ordinals: Rows<typeof ordinals>]>(
  "metric.profiles.insert",
  `INSERT INTO metric.profiles (property_id, profile_id, number)
   SELECT $1, n.profile_id, n.number FROM ${ordinals.as("n")}
   RETURNING number`,
  ordinals,
);

const merges = columns(2, { source: "integer", survivor: "integer" });

export const insertMerges = statement<[property: Uuid, merges: Rows<typeof merges>]>(
  "metric.merges.insert",
  `INSERT INTO metric.merges (property_id, source, survivor)
   SELECT $1, m.source, m.survivor FROM ${merges.as("m")}
   ON CONFLICT DO NOTHING`,
  merges,
);

/** Ordinals that were not merged give no row. */
export const findMerges = statement<
  [property: Uuid, ordinals: readonly number[]],
  { source: number; survivor: number }
>(
  "metric.merges.find",
  `SELECT m.source, m.survivor
   FROM unnest($2::integer[]) AS wanted (number)
   CROSS JOIN LATERAL (
     SELECT source, survivor FROM metric.merges WHERE property_id = $1 AND source = wanted.number LIMIT 1
   ) m`,
);
