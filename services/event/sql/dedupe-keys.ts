import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";

// All keys here are digests: a unique_id by domain/unique-key.ts, the others by key-digest.ts.

/** The fields by which repeats of an event are found. */
export type KeyKind = "dedupe_id" | "idempotency_key" | "unique_id";

/** A key that an event holds. */
export interface HeldKeyRow {
  kind: KeyKind;
  key: string;
  event_id: Uuid;
  fingerprint: Buffer | null;
}

const wanted = columns(3, { kind: "text", key: "text" });

/**
 * A free key gives no row. One look-up each (LATERAL with LIMIT 1), because a plain join with statistics of an empty
 * table was measured to read all keys of the property. The expiry is checked outside, so that its index is not chosen.
 */
export const findKeys = statement<[property: Uuid, now: Instant, keys: Rows<typeof wanted>], HeldKeyRow>(
  "event.dedupe_keys.find",
  `SELECT d.kind, d.key, d.event_id, d.fingerprint
   FROM ${wanted.as("wanted")}
   CROSS JOIN LATERAL (
     SELECT kind, key, event_id, fingerprint, expires_at FROM event.dedupe_keys
     WHERE property_id = $1 AND kind = wanted.kind AND key = wanted.key LIMIT 1
   ) d
   WHERE d.expires_at > $2`,
  wanted,
);

/** The columns of claims, from a parameter on. */
export const claimColumns = (first: number) =>
  columns(first, { kind: "text", key: "text", event_id: "uuid", fingerprint: "bytea?", expires_at: "timestamptz" });

export type KeyClaims = Rows<ReturnType<typeof claimColumns>>;

/**
 * Inserts claims of the property $1 at the instant $2. Waits for concurrent claims of the same keys, in the order of
 * the keys, so that two claims never deadlock.
 */
export const insertClaims = (claims: ReturnType<typeof claimColumns>): string =>
  `INSERT INTO event.dedupe_keys AS held (property_id, kind, key, event_id, fingerprint, claimed_at, expires_at)
   SELECT $1, c.kind, c.key, c.event_id, c.fingerprint, $2, c.expires_at
   FROM ${claims.as("c")}
   ORDER BY c.kind, c.key`;

const claims = claimColumns(3);

/**
 * Claims free keys; a held key gives no row. The instant is a column of the row, because no parameter may stand in ON
 * CONFLICT.
 */
export const claimKeys = statement<
  [property: Uuid, now: Instant, claims: Rows<typeof claims>],
  { kind: KeyKind; key: string }
>(
  "event.dedupe_keys.claim",
  `${insertClaims(claims)}
   ON CONFLICT (property_id, kind, key) DO UPDATE
     SET event_id = excluded.event_id, fingerprint = excluded.fingerprint, claimed_at = excluded.claimed_at,
         expires_at = excluded.expires_at
     WHERE held.expires_at <= excluded.claimed_at
   RETURNING kind, key`,
  claims,
);

const released = columns(2, { kind: "text", key: "text" });

export const releaseKeys = statement<[property: Uuid, keys: Rows<typeof released>]>(
  "event.dedupe_keys.release",
  `DELETE FROM event.dedupe_keys
   WHERE property_id = $1 AND (kind, key) IN (SELECT * FROM ${released.as("r")})`,
  released,
);

/** The next expired keys of all properties. */
export const findExpiredKeys = statement<
  [now: Instant, rowsMax: number],
  { property_id: Uuid; kind: KeyKind; key: string }
>(
  "event.dedupe_keys.find_expired",
  `SELECT property_id, kind, key FROM event.dedupe_keys WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2`,
);

/** Deletes those keys that are still expired. Skips locked ones. Returns one row for each. */
export const deleteExpiredKeys = statement<
  [property: Uuid, kind: KeyKind, now: Instant, keys: readonly string[]],
  { deleted: boolean }
>(
  "event.dedupe_keys.delete_expired",
  `DELETE FROM event.dedupe_keys WHERE property_id = $1 AND kind = $2 AND key = ANY(ARRAY(
     SELECT held.key
     FROM unnest($4::text[]) AS wanted (key)
     CROSS JOIN LATERAL (
       SELECT key, expires_at FROM event.dedupe_keys
       WHERE property_id = $1 AND kind = $2 AND key = wanted.key LIMIT 1 FOR UPDATE SKIP LOCKED
     ) AS held
     WHERE held.expires_at <= $3
   )) RETURNING true AS deleted`,
);
