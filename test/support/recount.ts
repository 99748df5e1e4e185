/** Metric aggregates as PostgreSQL itself counts them from the stored events: a second way to the same answer. */
import pg from "pg";
import { decodeId } from "#shared/ids.ts";
import type { TestDaybook } from "./daybook.ts";

/** What to count. */
export interface Recount {
  propertyId: string;
  type: string;
  interval?: "hour" | "day" | "week" | "month" | undefined;
  from: string;
  to: string;
  timezone: string;
  /** Columns of the events. */
  groupBy?: readonly ("source" | "currency")[];
}

/** What is counted of a group in a bucket. */
export interface RecountRow {
  /** When the bucket begins, as the API writes it. */
  bucket: string;
  group: string;
  count: number;
  sum: string;
  profiles: number;
}

/** Counts in PostgreSQL, which knows time zones by itself. Merged profiles are followed to their survivors. */
export async function recount(daybook: TestDaybook, what: Recount): Promise<RecountRow[]> {
  const { interval, groupBy = [] } = what;
  const civil =
    interval === undefined
      ? "$3::timestamptz"
      : `greatest(date_trunc('${interval}', e.occurred_at, $5), $3::timestamptz)`;
  const group =
    groupBy.length === 0
      ? "'{}'"
      : `json_build_object(${groupBy.map((name) => `'${name}', e.${name}`).join(", ")})::text`;
  const text = `
    WITH RECURSIVE
    zone AS (SELECT $5::text AS name),
    chain AS (
      SELECT source_id, survivor_id FROM profile.merges WHERE property_id = $1
      UNION ALL
      SELECT chain.source_id, m.survivor_id FROM chain JOIN profile.merges m ON m.property_id = $1 AND m.source_id = chain.survivor_id
    ),
    ends AS (
      SELECT source_id, survivor_id FROM chain
      WHERE NOT EXISTS (SELECT FROM profile.merges m WHERE m.property_id = $1 AND m.source_id = chain.survivor_id)
    )
    SELECT to_char(${civil} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS bucket, ${group} AS "group", count(*)::int AS count,
           coalesce(sum(e.value), 0)::text AS sum, count(DISTINCT coalesce(ends.survivor_id, e.profile_id))::int AS profiles
    FROM zone, event.events e LEFT JOIN ends ON ends.source_id = e.profile_id
    WHERE e.property_id = $1 AND e.type = $2 AND e.occurred_at >= $3 AND e.occurred_at < $4
    GROUP BY 1, 2 ORDER BY 2, 1`;
  const client = new pg.Client({ connectionString: daybook.databaseUrl });
  await client.connect();
  try {
    const property = decodeId("prop", what.propertyId, "property_id");
    const { rows } = await client.query<RecountRow>(text, [property, what.type, what.from, what.to, what.timezone]);
    return rows.map((row) => ({ ...row, group: JSON.stringify(JSON.parse(row.group)) }));
  } finally {
    await client.end();
  }
}

interface Aggregate {
  buckets: string[];
  series: { group: object; count: number[]; sum_value: string[]; unique_profiles: number[] }[];
}

/** An answer of the API in the form of a recount: the buckets in which something happened. Sums as numbers of equal value are written. */
export function toRows({ buckets, series }: Aggregate): RecountRow[] {
  return series
    .flatMap(({ group, count, sum_value: sums, unique_profiles: profiles }) =>
      buckets.map((bucket, at) => ({
        bucket,
        group: JSON.stringify(group),
        count: count[at] ?? 0,
        sum: sums?.[at] ?? "0",
        profiles: profiles[at] ?? 0,
      })),
    )
    .filter(({ count }) => count > 0);
}
