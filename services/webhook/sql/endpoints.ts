/** Endpoints: where messages of a property are sent. */
import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

export type DisabledReasonName = "manual" | "failing" | "gone" | "owner_ended";

/** A row of webhook.endpoints, with how it gets on. Secrets and headers are sealed. */
export interface EndpointRow {
  property_id: Uuid;
  id: Uuid;
  url: string;
  description: string;
  types: string[];
  event_types: string[];
  sources: string[];
  header_names: string[];
  headers: Buffer | null;
  rate_limit_per_second: number | null;
  status: "enabled" | "disabled";
  disabled_reason: DisabledReasonName | null;
  disabled_at: Micros | null;
  is_unsettled: boolean;
  revision: string;
  created_by: string;
  owner_id: Uuid | null;
  owner_kind: "key" | "inst" | null;
  app_id: Uuid | null;
  secret: Buffer | null;
  previous_secret_until: Micros | null;
  rotation_id: Uuid | null;
  last_delivery_id: Uuid | null;
  created_at: Micros;
  updated_at: Micros;
  failing_since: Micros | null;
  last_success_at: Micros | null;
}

const own = `e.property_id, e.id, e.url, e.description, e.types, e.event_types, e.sources, e.header_names, e.headers,
  e.rate_limit_per_second, e.status, e.disabled_reason, e.disabled_at, e.is_unsettled, e.revision, e.created_by, e.owner_id, e.owner_kind,
  e.app_id, e.secret, e.previous_secret_until, e.rotation_id, e.last_delivery_id, e.created_at, e.updated_at`;

const read = `SELECT ${own}, h.failing_since, h.last_success_at
  FROM webhook.endpoints e
  LEFT JOIN webhook.endpoint_health h ON h.property_id = $1 AND h.endpoint_id = e.id
  WHERE e.property_id = $1`;

/** Fails when the schema is missing. */
export const probe = statement<[]>("webhook.endpoints.probe", `SELECT FROM webhook.endpoints LIMIT 0`);

/** Reads one. */
export const readEndpoint = statement<[property: Uuid, id: Uuid], EndpointRow>(
  "webhook.endpoints.read",
  `${read} AND e.id = $2`,
);

/** Reads one, and locks it until the end of the transaction. */
export const lockEndpoint = statement<[property: Uuid, id: Uuid], EndpointRow>(
  "webhook.endpoints.lock",
  `${read} AND e.id = $2 FOR UPDATE OF e`,
);

/**
 * A page of a property's, oldest first.
 * @param types those all of whose types are among them; null for all.
 * @param owner those of this installation; null for all.
 */
export const listEndpoints = statement<
  [
    property: Uuid,
    types: readonly string[] | null,
    owner: Uuid | null,
    status: EndpointRow["status"] | null,
    after: Uuid,
    limit: number,
  ],
  EndpointRow
>(
  "webhook.endpoints.list",
  `${read} AND ($2::text[] IS NULL OR e.types <@ $2 AND (e.types <> '{}' OR '*' = ANY($2))) AND ($3::uuid IS NULL OR e.owner_id = $3 AND e.owner_kind = 'inst')
     AND ($4::text IS NULL OR e.status = $4) AND e.id > $5
   ORDER BY e.id LIMIT $6`,
);

/** How many a property and one of its installations have. Those of apps do not count. */
export const countEndpoints = statement<[property: Uuid, owner: Uuid | null], { all: number; own: number }>(
  "webhook.endpoints.count",
  `SELECT count(*) AS all, count(*) FILTER (WHERE owner_id = $2 AND owner_kind = 'inst') AS own
   FROM webhook.endpoints WHERE property_id = $1 AND app_id IS NULL`,
);

/** Makes one. No row if there is one with this id. */
export const insertEndpoint = statement<
  [
    property: Uuid,
    id: Uuid,
    url: string,
    description: string,
    types: readonly string[],
    eventTypes: readonly string[],
    sources: readonly string[],
    headerNames: readonly string[],
    headers: Buffer | null,
    rateLimit: number | null,
    disabledReason: DisabledReasonName | null,
    revision: string,
    createdBy: string,
    owner: Uuid | null,
    ownerKind: string | null,
    secret: Buffer,
    now: Instant,
  ],
  EndpointRow
>(
  "webhook.endpoints.insert",
  `INSERT INTO webhook.endpoints AS e (property_id, id, url, description, types, event_types, sources, header_names,
     headers, rate_limit_per_second, status, disabled_reason, disabled_at, revision, created_by, owner_id, owner_kind,
     secret, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, CASE WHEN $11::text IS NULL THEN 'enabled' ELSE 'disabled' END, $11,
     CASE WHEN $11::text IS NOT NULL THEN $17::timestamptz END, $12, $13, $14, $15, $16, $17, $17)
   ON CONFLICT (property_id, id) DO NOTHING
   RETURNING ${own}, NULL::timestamptz AS failing_since, NULL::timestamptz AS last_success_at`,
);

/** Writes the fields that can be changed. A disabled one is unsettled: see disabling.ts. */
export const updateEndpoint = statement<
  [
    property: Uuid,
    id: Uuid,
    url: string,
    description: string,
    types: readonly string[],
    eventTypes: readonly string[],
    sources: readonly string[],
    headerNames: readonly string[],
    headers: Buffer | null,
    rateLimit: number | null,
    revision: string,
    disabledReason: DisabledReasonName | null,
    disabledAt: Instant | null,
    isUnsettled: boolean,
    now: Instant,
  ]
>(
  "webhook.endpoints.update",
  `UPDATE webhook.endpoints
   SET url = $3, description = $4, types = $5, event_types = $6, sources = $7, header_names = $8, headers = $9,
       rate_limit_per_second = $10, revision = $11, status = CASE WHEN $12::text IS NULL THEN 'enabled' ELSE 'disabled' END,
       disabled_reason = $12, disabled_at = $13, is_unsettled = $14, updated_at = $15
   WHERE property_id = $1 AND id = $2`,
);

/** Disables one that is enabled. It is unsettled then: see disabling.ts. */
export const disableEndpoint = statement<
  [property: Uuid, id: Uuid, reason: DisabledReasonName, now: Instant],
  { id: Uuid }
>(
  "webhook.endpoints.disable",
  `UPDATE webhook.endpoints
   SET status = 'disabled', disabled_reason = $3, disabled_at = $4, is_unsettled = true, last_delivery_id = NULL,
       updated_at = $4
   WHERE property_id = $1 AND id = $2 AND status = 'enabled'
   RETURNING id`,
);

/** Deletes one. Its deliveries go later: see disabling.ts. */
export const deleteEndpoint = statement<[property: Uuid, id: Uuid]>(
  "webhook.endpoints.delete",
  `DELETE FROM webhook.endpoints WHERE property_id = $1 AND id = $2`,
);

/** Replaces the secret; the one before is good until an instant, or not at all. */
export const rotateSecret = statement<
  [property: Uuid, id: Uuid, secret: Buffer, previousUntil: Instant | null, now: Instant, operation: Uuid | null]
>(
  "webhook.endpoints.rotate_secret",
  `UPDATE webhook.endpoints
   SET previous_secret = CASE WHEN $4::timestamptz IS NOT NULL THEN secret END, previous_secret_until = $4,
       secret = $3, updated_at = $5, rotation_id = $6
   WHERE property_id = $1 AND id = $2`,
);

/** Forgets the failures of one, and closes its breaker. */
export const forgetFailures = statement<[property: Uuid, id: Uuid]>(
  "webhook.endpoints.forget_failures",
  `UPDATE webhook.endpoint_health
   SET failing_since = NULL, failures = 0, failing_days = 0, failed_on = NULL, paused_until = NULL, pause_seconds = NULL
   WHERE property_id = $1 AND endpoint_id = $2`,
);
