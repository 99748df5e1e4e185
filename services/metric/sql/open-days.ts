/** Days whose longer sets of profiles are not made yet, or lack something. */
import type { Micros } from "#shared/values/clock.ts";
import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

const days = columns(3, { metric_id: "uuid", day: "timestamptz" });

/** Opens days in which something was added. Their metrics must be locked. */
export const openDays = statement<[property: Uuid, generation: number, days: Rows<typeof days>]>(
  "metric.open_days.open",
  `INSERT INTO metric.open_days (property_id, generation, metric_id, day)
   SELECT $1, $2, d.metric_id, d.day FROM ${days.as("d")} ORDER BY d.metric_id, d.day
   ON CONFLICT DO NOTHING`,
  days,
);

/** The open days of a metric. */
export const readOpenDays = statement<
  [property: Uuid, metric: Uuid, generation: number, from: Instant, before: Instant],
  { day: Micros }
>(
  "metric.open_days.read",
  `SELECT day FROM metric.open_days
   WHERE property_id = $1 AND metric_id = $2 AND generation = $3 AND day >= $4 AND day < $5`,
);

export interface OpenDayRow {
  property_id: Uuid;
  metric_id: Uuid;
  generation: number;
  day: Micros;
}

/** Days before an instant that have been open for some time. */
export const findDaysToClose = statement<[before: Instant, openSeconds: number, limit: number], OpenDayRow>(
  "metric.open_days.find",
  `SELECT property_id, metric_id, generation, day FROM metric.open_days
   WHERE day < $1 AND opened_at < now() - $2 * interval '1 second' ORDER BY day LIMIT $3`,
);

/** Its metric must be locked. No row if the day is closed. */
export const closeDay = statement<[property: Uuid, metric: Uuid, generation: number, day: Instant], { day: Micros }>(
  "metric.open_days.close",
  `DELETE FROM metric.open_days WHERE property_id = $1 AND metric_id = $2 AND generation = $3 AND day = $4 RETURNING day`,
);

/** Opens a day as if for the first time now, so that it is closed later. */
export const postponeDay = statement<[property: Uuid, metric: Uuid, generation: number, day: Instant]>(
  "metric.open_days.postpone",
  `UPDATE metric.open_days SET opened_at = now()
   WHERE property_id = $1 AND metric_id = $2 AND generation = $3 AND day = $4`,
);
