import { statement } from "#shared/postgres.ts";
import type { Micros } from "#shared/clock.ts";
import type { ModeName } from "../domain/secret.ts";

/** A row of identity.keys, without the hash. */
export interface KeyRow {
  property_id: string;
  id: string;
  name: string;
  display_prefix: string;
  scopes: string[];
  revision: string;
  created_at: Micros;
  expires_at: Micros | null;
}

/** $1 property_id, $2 id, $3 name, $4 secret_hash, $5 display_prefix, $6 scopes, $7 revision, $8 created_at, $9 expires_at */
export const insertKey = statement<KeyRow>(
  "identity.keys.insert",
  `INSERT INTO identity.keys (property_id, id, name, secret_hash, display_prefix, scopes, revision, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   RETURNING property_id, id, name, display_prefix, scopes, revision, created_at, expires_at`,
);

/** $1 secret_hash, $2 now. A key that is revoked or over is not found, as one that never was. */
export const findKeyByHash = statement<KeyRow & { property_name: string; mode: ModeName; property_created_at: Micros }>(
  "identity.keys.find_by_hash",
  `SELECT k.property_id, k.id, k.name, k.display_prefix, k.scopes, k.revision, k.created_at, k.expires_at,
          p.name AS property_name, p.mode, p.created_at AS property_created_at
   FROM identity.keys k JOIN identity.properties p ON p.id = k.property_id
   WHERE k.secret_hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)`,
);
