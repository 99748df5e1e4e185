/** The endpoints of apps, one for each installation, and the secrets of apps. */
import { plannedStatement, statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import type { EndpointRow } from "./endpoints.ts";

/** Which endpoints of apps there are, of many properties. */
export const findOfApps = plannedStatement<
  [properties: readonly Uuid[], ids: readonly Uuid[]],
  Pick<EndpointRow, "property_id" | "id" | "url" | "types" | "status" | "disabled_reason" | "last_delivery_id">
>(
  `SELECT e.property_id, e.id, e.url, e.types, e.status, e.disabled_reason, e.last_delivery_id
   FROM unnest($1::uuid[], $2::uuid[]) AS wanted (property_id, id)
   CROSS JOIN LATERAL (
     SELECT * FROM webhook.endpoints
     WHERE property_id = wanted.property_id AND id = wanted.id AND app_id IS NOT NULL
     LIMIT 1
   ) AS e`,
);

/**
 * Makes the endpoint of an installation, or writes what the app says. One that ended with the installation is enabled
 * again.
 */
export const writeOfApp = statement<
  [
    property: Uuid,
    id: Uuid,
    url: string,
    types: readonly string[],
    revision: string,
    createdBy: string,
    installation: Uuid,
    app: Uuid,
    now: Instant,
  ]
>(
  "webhook.apps.write",
  `INSERT INTO webhook.endpoints AS e (property_id, id, url, description, types, status, revision, created_by, owner_id,
     owner_kind, app_id, created_at, updated_at)
   VALUES ($1, $2, $3, '', $4, 'enabled', $5, $6, $7, 'inst', $8, $9, $9)
   ON CONFLICT (property_id, id) DO UPDATE SET
     url = excluded.url, types = excluded.types, revision = excluded.revision, updated_at = excluded.updated_at,
     last_delivery_id = NULL,
     is_unsettled = e.is_unsettled AND e.disabled_reason <> 'owner_ended',
     disabled_at = CASE WHEN e.disabled_reason <> 'owner_ended' THEN e.disabled_at END,
     status = CASE WHEN e.disabled_reason <> 'owner_ended' THEN 'disabled' ELSE 'enabled' END,
     disabled_reason = CASE WHEN e.disabled_reason <> 'owner_ended' THEN e.disabled_reason END`,
);

/** Gives an endpoint its last message. */
export const setLastDelivery = statement<[property: Uuid, id: Uuid, delivery: Uuid], { id: Uuid }>(
  "webhook.apps.set_last_delivery",
  `UPDATE webhook.endpoints SET last_delivery_id = $3, types = '{}'
   WHERE property_id = $1 AND id = $2 AND status = 'enabled' AND last_delivery_id IS NULL
   RETURNING id`,
);

/** Endpoints of all properties that wait for the end of their last message. */
export const findEnding = statement<[rowsMax: number], { property_id: Uuid; id: Uuid; last_delivery_id: Uuid }>(
  "webhook.apps.find_ending",
  `SELECT property_id, id, last_delivery_id FROM webhook.endpoints WHERE last_delivery_id IS NOT NULL
   ORDER BY property_id, id LIMIT $1`,
);

/** Cancels pending deliveries of an endpoint, except one. */
export const cancelOthers = statement<
  [property: Uuid, endpoint: Uuid, except: Uuid, now: Instant, rowsMax: number],
  { cancelled: boolean }
>(
  "webhook.apps.cancel_others",
  `UPDATE webhook.deliveries SET status = 'cancelled', due_at = NULL, updated_at = $4, completed_at = $4
   WHERE property_id = $1 AND status = 'pending' AND id = ANY(ARRAY(
     SELECT id FROM webhook.deliveries
     WHERE property_id = $1 AND endpoint_id = $2 AND status = 'pending' AND id <> $3 LIMIT $5
   ))
   RETURNING true AS cancelled`,
);

/** A delivery, if it is pending. */
export const findPending = statement<[property: Uuid, id: Uuid], { id: Uuid }>(
  "webhook.apps.find_pending",
  `SELECT id FROM webhook.deliveries WHERE property_id = $1 AND id = $2 AND status = 'pending'`,
);

/** Gives an app a secret, if it has none. */
export const addSecret = statement<[app: Uuid, secret: Buffer]>(
  "webhook.apps.add_secret",
  `INSERT INTO webhook.app_secrets (app_id, secret) VALUES ($1, $2) ON CONFLICT (app_id) DO NOTHING`,
);

/** Replaces the secret of an app; the one before is good until an instant, or not at all. */
export const rotateAppSecret = statement<[app: Uuid, secret: Buffer, previousUntil: Instant | null]>(
  "webhook.apps.rotate_secret",
  `UPDATE webhook.app_secrets
   SET previous_secret = CASE WHEN $3::timestamptz IS NOT NULL THEN secret END, previous_secret_until = $3, secret = $2
   WHERE app_id = $1`,
);
