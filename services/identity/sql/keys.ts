import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import { lastUse } from "./caller-uses.ts";
import { propertyColumns, type JoinedProperty } from "./properties.ts";

/** A row of identity.keys, without the hash. */
export interface KeyRow {
  property_id: Uuid;
  id: Uuid;
  name: string;
  display_prefix: string;
  scopes: string[];
  revision: string;
  created_at: Micros;
  expires_at: Micros | null;
  revoked_at: Micros | null;
  /** Requests per minute; null without a limit of its own. */
  rate_limit_ordinary: number | null;
  rate_limit_backfill: number | null;
  last_used_at: Micros | null;
}

/** A key and its property. */
export type KeyAndPropertyRow = KeyRow & JoinedProperty;

const keyColumns = [
  "property_id",
  "id",
  "name",
  "display_prefix",
  "scopes",
  "revision",
  "created_at",
  "expires_at",
  "revoked_at",
  "rate_limit_ordinary",
  "rate_limit_backfill",
];
const row = `${keyColumns.join(", ")}, ${lastUse("keys")}`;
const withProperty = `${keyColumns.map((column) => `k.${column}`).join(", ")}, ${lastUse("k")},
          ${propertyColumns}
   FROM identity.keys k JOIN identity.properties p ON p.id = k.property_id`;

export const insertKey = statement<
  [
    property: Uuid,
    id: Uuid,
    name: string,
    secretHash: Buffer,
    displayPrefix: string,
    scopes: readonly string[],
    revision: string,
    createdAt: Instant,
    expiresAt: Instant | null,
    rateLimitOrdinary: number | null,
    rateLimitBackfill: number | null,
  ],
  KeyRow
>(
  "identity.keys.insert",
  `INSERT INTO identity.keys (property_id, id, name, secret_hash, display_prefix, scopes, revision, created_at, expires_at,
                              rate_limit_ordinary, rate_limit_backfill)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
   RETURNING ${keyColumns.join(", ")}, NULL::timestamptz AS last_used_at`,
);

/** Revoked and expired keys give no row. */
export const findKeyByHash = statement<[secretHash: Buffer, now: Instant], KeyAndPropertyRow>(
  "identity.keys.find_by_hash",
  `SELECT ${withProperty}
   WHERE k.secret_hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)`,
);

export const findKey = statement<[property: Uuid, id: Uuid], KeyAndPropertyRow>(
  "identity.keys.find",
  `SELECT ${withProperty}
   WHERE k.property_id = $1 AND k.id = $2`,
);

export const listKeys = statement<[property: Uuid, after: Uuid | null, limit: number], KeyRow>(
  "identity.keys.list",
  `SELECT ${row} FROM identity.keys WHERE property_id = $1 AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT $3`,
);

/** Revokes a key. A second call keeps the first time. */
export const revokeKey = statement<[property: Uuid, id: Uuid, now: Instant], KeyRow>(
  "identity.keys.revoke",
  `UPDATE identity.keys SET revoked_at = coalesce(revoked_at, $3) WHERE property_id = $1 AND id = $2 RETURNING ${row}`,
);

const wanted = columns(2, { property_id: "uuid", id: "uuid" });

/** What some keys may do at an instant. Those that are not there give no row. */
export const describeKeys = statement<
  [now: Instant, wanted: Rows<typeof wanted>],
  { id: Uuid; name: string; scopes: string[]; active: boolean }
>(
  "identity.keys.describe",
  `SELECT k.id, k.name, k.scopes, k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $1) AS active
   FROM ${wanted.as("w")}
   CROSS JOIN LATERAL (
     SELECT id, name, scopes, revoked_at, expires_at FROM identity.keys
     WHERE property_id = w.property_id AND id = w.id LIMIT 1
   ) AS k`,
  wanted,
);

/** Reads and locks a key. */
export const lockKey = statement<[property: Uuid, id: Uuid], KeyRow>(
  "identity.keys.lock",
  `SELECT ${row} FROM identity.keys WHERE property_id = $1 AND id = $2 FOR UPDATE`,
);

/** Sets the expiry of a key, unless it expires earlier. */
export const expireKey = statement<[property: Uuid, id: Uuid, expiresAt: Instant], KeyRow>(
  "identity.keys.expire",
  `UPDATE identity.keys SET expires_at = least(expires_at, $3) WHERE property_id = $1 AND id = $2 RETURNING ${row}`,
);
