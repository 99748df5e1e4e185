/** Metrics that callers create and describe. */
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { shown, type MetricRow } from "./metrics.ts";

/** Creates a metric without events. No row if the name is taken. */
export const insertMetric = statement<[property: Uuid, id: Uuid, name: string, description: string | null], MetricRow>(
  "metric.registrations.insert",
  `INSERT INTO metric.metrics (property_id, id, name, description) VALUES ($1, $2, $3, $4)
   ON CONFLICT (property_id, name) DO NOTHING
   RETURNING ${shown}`,
);

/** Counts a registration, and locks the count until the end of the transaction. */
export const countRegistration = statement<[property: Uuid], { count: number }>(
  "metric.registrations.count",
  `INSERT INTO metric.registrations AS r (property_id, count) VALUES ($1, 1)
   ON CONFLICT (property_id) DO UPDATE SET count = r.count + 1
   RETURNING count`,
);

/**
 * Describes a metric; system metrics give no row. The name is a condition too: before there are statistics the planner
 * may use either index, and each finds one row.
 */
export const describeMetric = statement<
  [property: Uuid, id: Uuid, description: string | null, name: string],
  MetricRow
>(
  "metric.registrations.describe",
  `UPDATE metric.metrics
   SET description = $3,
       updated_at = CASE WHEN description IS DISTINCT FROM $3 THEN greatest(updated_at, clock.at) ELSE updated_at END
   FROM (SELECT now() AS at) AS clock
   WHERE property_id = $1 AND id = $2 AND name = $4 AND NOT system
   RETURNING ${shown}`,
);
