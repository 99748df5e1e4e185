import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

// All keys here are digests by key-digest.ts.

/** The item and the profile of a key. */
export interface ItemKeyRow {
  fingerprint: Buffer;
  profile_id: Uuid;
}

export const findItemKey = statement<[property: Uuid, key: string, now: Instant], ItemKeyRow>(
  "profile.item_keys.find",
  `SELECT fingerprint, profile_id FROM profile.item_keys WHERE property_id = $1 AND key = $2 AND expires_at > $3`,
);

/** Returns no row when the key is held. */
export const claimItemKey = statement<
  [property: Uuid, key: string, fingerprint: Buffer, profile: Uuid, expiresAt: Instant, now: Instant],
  { key: string }
>(
  "profile.item_keys.claim",
  `INSERT INTO profile.item_keys AS held (property_id, key, fingerprint, profile_id, expires_at)
   VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (property_id, key) DO UPDATE
     SET fingerprint = excluded.fingerprint, profile_id = excluded.profile_id, expires_at = excluded.expires_at
     WHERE held.expires_at <= $6
   RETURNING key`,
);

/** Returns one row for each deleted key. */
export const deleteExpiredItemKeys = statement<[now: Instant, rowsMax: number], { expired: boolean }>(
  "profile.item_keys.delete_expired",
  `DELETE FROM profile.item_keys WHERE ctid = ANY(ARRAY(
     SELECT ctid FROM profile.item_keys WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
   )) RETURNING true AS expired`,
);
