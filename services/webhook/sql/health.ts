/** How endpoints get on, and what sending needs to know of them. */
import { plannedStatement, statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

/** An endpoint as sending sees it. Secrets and headers are sealed. */
export interface SendingRow {
  property_id: Uuid;
  id: Uuid;
  url: string;
  headers: Buffer | null;
  rate_limit_per_second: number | null;
  status: "enabled" | "disabled";
  app_id: Uuid | null;
  secret: Buffer | null;
  previous_secret: Buffer | null;
  previous_secret_until: Micros | null;
  failures: number | null;
  last_success_at: Micros | null;
  paused_until: Micros | null;
  emptied_count: number;
}

/** Reads endpoints of all properties, those that this process sends to. */
export const readSending = plannedStatement<[properties: readonly Uuid[], ids: readonly Uuid[]], SendingRow>(
  `SELECT e.property_id, e.id, e.url, e.headers, e.rate_limit_per_second, e.status, e.app_id, e.secret,
     e.previous_secret, e.previous_secret_until, h.failures, h.last_success_at, h.paused_until, p.emptied_count
   FROM unnest($1::uuid[], $2::uuid[]) AS wanted (property_id, id)
   JOIN webhook.endpoints e ON e.property_id = wanted.property_id AND e.id = wanted.id
   JOIN webhook.properties p ON p.property_id = wanted.property_id
   LEFT JOIN webhook.endpoint_health h ON h.property_id = e.property_id AND h.endpoint_id = e.id`,
);

/** The secrets of apps. */
export interface AppSecretRow {
  app_id: Uuid;
  secret: Buffer;
  previous_secret: Buffer | null;
  previous_secret_until: Micros | null;
}

export const readAppSecrets = statement<[apps: readonly Uuid[]], AppSecretRow>(
  "webhook.health.read_app_secrets",
  `SELECT app_id, secret, previous_secret, previous_secret_until FROM webhook.app_secrets WHERE app_id = ANY($1::uuid[])`,
);

const closed = `failing_since = NULL, failures = 0, failing_days = 0, failed_on = NULL, paused_until = NULL,
  pause_seconds = NULL`;

/** A message got through: the failures before it count no more, and the breaker is closed. */
export const noteSuccess = statement<[property: Uuid, endpoint: Uuid, at: Instant]>(
  "webhook.health.note_success",
  `INSERT INTO webhook.endpoint_health AS h (property_id, endpoint_id, last_success_at) VALUES ($1, $2, $3)
   ON CONFLICT (property_id, endpoint_id)
   DO UPDATE SET last_success_at = greatest(h.last_success_at, excluded.last_success_at), ${closed}`,
);

/** How an endpoint has failed since its last success, in all processes. */
export interface FailingRow {
  failures: number;
  failing_since: Micros;
  failing_days: number;
  paused_until: Micros | null;
  pause_seconds: number | null;
}

/** Counts failed attempts. @param day in UTC, such as 2026-11-20. */
export const noteFailures = statement<
  [property: Uuid, endpoint: Uuid, count: number, at: Instant, day: string],
  FailingRow
>(
  "webhook.health.note_failures",
  `INSERT INTO webhook.endpoint_health AS h (property_id, endpoint_id, failing_since, failures, failing_days, failed_on)
   VALUES ($1, $2, $4, $3, 1, $5)
   ON CONFLICT (property_id, endpoint_id) DO UPDATE SET
     failing_since = coalesce(h.failing_since, excluded.failing_since), failures = h.failures + excluded.failures,
     failing_days = h.failing_days + CASE WHEN h.failed_on IS DISTINCT FROM excluded.failed_on THEN 1 ELSE 0 END,
     failed_on = excluded.failed_on
   RETURNING failures, failing_since, failing_days, paused_until, pause_seconds`,
);

/** Opens the breaker, unless it is open for longer. Gives no row then. */
export const openBreaker = statement<
  [property: Uuid, endpoint: Uuid, pausedUntil: Instant, pauseSeconds: number],
  { opened: boolean }
>(
  "webhook.health.open_breaker",
  `UPDATE webhook.endpoint_health SET paused_until = $3, pause_seconds = $4
   WHERE property_id = $1 AND endpoint_id = $2 AND (paused_until IS NULL OR paused_until < $3)
   RETURNING true AS opened`,
);

/** Half-opens a breaker whose time is over. Of several processes one gets the row, and may try once until `until`. */
export const takeProbe = statement<
  [property: Uuid, endpoint: Uuid, now: Instant, until: Instant],
  { pause_seconds: number }
>(
  "webhook.health.take_probe",
  `UPDATE webhook.endpoint_health SET paused_until = $4
   WHERE property_id = $1 AND endpoint_id = $2 AND paused_until <= $3
   RETURNING pause_seconds`,
);

/** Takes some of the messages that all processes together may send in a second. @returns how many it got. */
export const takeTokens = statement<
  [property: Uuid, endpoint: Uuid, second: number, wanted: number, limit: number],
  { taken: number }
>(
  "webhook.health.take_tokens",
  `WITH made AS (
     INSERT INTO webhook.endpoint_health (property_id, endpoint_id) VALUES ($1, $2)
     ON CONFLICT (property_id, endpoint_id) DO NOTHING
   ), before AS (
     SELECT CASE WHEN rate_second = $3 THEN rate_taken ELSE 0 END AS taken
     FROM webhook.endpoint_health WHERE property_id = $1 AND endpoint_id = $2 FOR UPDATE
   )
   UPDATE webhook.endpoint_health AS h SET rate_second = $3, rate_taken = least($5, before.taken + $4)
   FROM before WHERE h.property_id = $1 AND h.endpoint_id = $2
   RETURNING least($5 - before.taken, $4) AS taken`,
);

/** Counts the breakers that are open. */
export const countOpen = statement<[now: Instant], { open: number }>(
  "webhook.health.count_open",
  `SELECT count(*) AS open FROM webhook.endpoint_health WHERE paused_until > $1`,
);
