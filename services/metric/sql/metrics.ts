import type { Micros } from "#shared/values/clock.ts";
import type { ValueTypeName } from "#shared/values/observed-schema.ts";
import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";

/** A row of metric.metrics. */
export interface MetricRow {
  id: Uuid;
  name: string;
  source: string | null;
  system: boolean;
  description: string | null;
  first_seen_at: Micros | null;
  schema: Record<string, ValueTypeName>;
  event_count: number;
  first_occurred_at: Micros | null;
  last_occurred_at: Micros | null;
  last_received_at: Micros | null;
  original_name: string | null;
  /** Receipt time of the event with that name. */
  original_name_at: Micros | null;
  created_at: Micros;
  updated_at: Micros;
}

export const shown = `id, name, source, system, description, first_seen_at, schema, event_count, first_occurred_at, last_occurred_at,
  last_received_at, original_name, original_name_at, created_at, updated_at`;

export const readMetrics = statement<[property: Uuid, ids: readonly Uuid[], names: readonly string[]], MetricRow>(
  "metric.metrics.read",
  `SELECT ${shown} FROM metric.metrics WHERE property_id = $1 AND (id = ANY($2::uuid[]) OR name = ANY($3::text[]))`,
);

/** Null filters match all. */
export const listMetrics = statement<
  [
    property: Uuid,
    after: Uuid | null,
    name: string | null,
    source: string | null,
    system: boolean | null,
    limit: number,
  ],
  MetricRow
>(
  "metric.metrics.list",
  `SELECT ${shown} FROM metric.metrics
   WHERE property_id = $1 AND ($2::uuid IS NULL OR id > $2) AND ($3::text IS NULL OR name = $3)
     AND ($4::text IS NULL OR source = $4) AND ($5::boolean IS NULL OR system = $5)
   ORDER BY id LIMIT $6`,
);

const registered = columns(2, { id: "uuid", name: "text", system: "boolean" });

/** Registers missing metrics, and gives those. Ordered by name, so that concurrent calls cannot deadlock. */
export const registerMetrics = statement<[property: Uuid, metrics: Rows<typeof registered>], { name: string }>(
  "metric.metrics.register",
  `INSERT INTO metric.metrics (property_id, id, name, system)
   SELECT $1, m.id, m.name, m.system
   FROM ${registered.as("m")}
   ORDER BY m.name
   ON CONFLICT (property_id, name) DO NOTHING
   RETURNING name`,
  registered,
);

/** Reads and locks metrics, ordered by name. */
export const lockMetrics = statement<
  [property: Uuid, names: readonly string[]],
  Pick<MetricRow, "id" | "name" | "source" | "first_seen_at" | "schema" | "original_name_at">
>(
  "metric.metrics.lock",
  `SELECT m.id, m.name, m.source, m.first_seen_at, m.schema, m.original_name_at
   FROM (SELECT * FROM unnest($2::text[]) AS w (name) ORDER BY w.name) AS wanted
   CROSS JOIN LATERAL (
     SELECT id, name, source, first_seen_at, schema, original_name_at FROM metric.metrics
     WHERE property_id = $1 AND name = wanted.name LIMIT 1 FOR UPDATE
   ) m`,
);

const updates = columns(2, {
  id: "uuid",
  count: "bigint",
  first_seen_at: "timestamptz",
  source: "text?",
  schema: "jsonb?",
  first_occurred_at: "timestamptz",
  last_occurred_at: "timestamptz",
  last_received_at: "timestamptz",
  original_name: "text?",
  original_name_at: "timestamptz?",
});

/** Adds to metrics. A null schema or original name keeps the stored one. */
export const updateMetrics = statement<[property: Uuid, updates: Rows<typeof updates>]>(
  "metric.metrics.update",
  `UPDATE metric.metrics m
   SET event_count = m.event_count + u.count, first_seen_at = u.first_seen_at, source = u.source,
       schema = coalesce(u.schema, m.schema), first_occurred_at = least(m.first_occurred_at, u.first_occurred_at),
       last_occurred_at = greatest(m.last_occurred_at, u.last_occurred_at),
       last_received_at = greatest(m.last_received_at, u.last_received_at),
       original_name = coalesce(u.original_name, m.original_name),
       original_name_at = coalesce(u.original_name_at, m.original_name_at),
       updated_at = CASE
         WHEN (m.first_seen_at, m.source) IS DISTINCT FROM (u.first_seen_at, u.source) OR u.schema IS NOT NULL
           OR u.original_name IS DISTINCT FROM m.original_name AND u.original_name IS NOT NULL
         THEN greatest(m.updated_at, clock.at) ELSE m.updated_at END
   FROM ${updates.as("u")} CROSS JOIN (SELECT now() AS at) AS clock
   WHERE m.property_id = $1 AND m.id = ANY(${updates.array("id")}) AND m.id = u.id`,
  updates,
);

/** Succeeds if the schema exists. */
export const probe = statement<[]>("metric.metrics.probe", `SELECT FROM metric.metrics LIMIT 0`);

/** Locks all metrics of a property, ordered by name. */
export const lockAllMetrics = statement<[property: Uuid], { id: Uuid }>(
  "metric.metrics.lock_all",
  `SELECT id FROM metric.metrics WHERE property_id = $1 ORDER BY name FOR UPDATE`,
);

export const readMetricIds = statement<[property: Uuid], { id: Uuid }>(
  "metric.metrics.read_ids",
  `SELECT id FROM metric.metrics WHERE property_id = $1`,
);

const counts = columns(2, { id: "uuid", count: "bigint" });

/** Sets the number of counted events. */
export const setEventCounts = statement<[property: Uuid, counts: Rows<typeof counts>]>(
  "metric.metrics.set_event_counts",
  `UPDATE metric.metrics m SET event_count = u.count
   FROM ${counts.as("u")}
   WHERE m.property_id = $1 AND m.id = ANY(${counts.array("id")}) AND m.id = u.id`,
  counts,
);
