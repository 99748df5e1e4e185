/** What callers say of metrics themselves: that there is to be one, and what it is about. */
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import { shown, type MetricRow } from "./metrics.ts";

/** Makes a metric that has no events yet. Gives no row when the name is taken. */
export const insertMetric = statement<[property: Uuid, id: Uuid, name: string, description: string | null], MetricRow>(
  "metric.registrations.insert",
  `INSERT INTO metric.metrics (property_id, id, name, description) VALUES ($1, $2, $3, $4)
   ON CONFLICT (property_id, name) DO NOTHING
   RETURNING ${shown}`,
);

/** Counts one more, and holds off others of the property until the end of the transaction. */
export const countRegistration = statement<[property: Uuid], { count: number }>(
  "metric.registrations.count",
  `INSERT INTO metric.registrations AS r (property_id, count) VALUES ($1, 1)
   ON CONFLICT (property_id) DO UPDATE SET count = r.count + 1
   RETURNING count`,
);

/**
 * Describes a metric; the platform's own gives no row. The name is asked for too: as long as there are no statistics,
 * either index may be taken, and then each finds one row.
 */
export const describeMetric = statement<
  [property: Uuid, id: Uuid, description: string | null, name: string],
  MetricRow
>(
  "metric.registrations.describe",
  `UPDATE metric.metrics
   SET description = $3,
       updated_at = CASE WHEN description IS DISTINCT FROM $3 THEN greatest(updated_at, now()) ELSE updated_at END
   WHERE property_id = $1 AND id = $2 AND name = $4 AND NOT system
   RETURNING ${shown}`,
);
