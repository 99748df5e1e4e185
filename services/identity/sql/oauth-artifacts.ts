/** Codes, tokens and requests that the authorization server of the gateways keeps, by SHA-256. */
import { plannedStatement, statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import type { ArtifactKindName } from "../domain/artifacts.ts";
import { installationColumns, type InstallationRow } from "./installations.ts";
import { propertyColumns, type JoinedProperty } from "./properties.ts";

/** An access token that is good, its installation, and the property. */
export type AccessTokenRow = InstallationRow &
  JoinedProperty & {
    token_scopes: string[];
    expires_at: Micros;
    /** Null until its first use. */
    used_at: Micros | null;
    app_name: string;
  };

/**
 * Keeps an artifact. Only an interaction replaces what is kept. Of a grant that has ended nothing is kept: the lock has
 * what ends it wait, and delete this too. Gives a row if it is kept.
 */
export const storeArtifact = statement<
  [
    kind: ArtifactKindName,
    idHash: Buffer,
    payload: string,
    grantId: Uuid | null,
    scopes: readonly string[] | null,
    predecessorHash: Buffer | null,
    expiresAt: Instant,
  ],
  { kept: boolean }
>(
  "identity.oauth_artifacts.store",
  `INSERT INTO identity.oauth_artifacts AS a (kind, id_hash, payload, grant_id, scopes, predecessor_hash, expires_at)
   SELECT $1::text, $2::bytea, $3::text, $4::uuid, $5::text[], $6::bytea, $7::timestamptz
   WHERE $4::uuid IS NULL
      OR EXISTS (SELECT FROM identity.installations WHERE grant_id = $4 AND revoked_at IS NULL FOR SHARE)
   ON CONFLICT (kind, id_hash) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at
   WHERE a.kind = 'interaction'
   RETURNING true AS kept`,
);

/**
 * Deletes what ends first of one kind of a grant, beyond `most`. Those that end in the same instant as the last of them
 * stay.
 */
export const trimArtifacts = statement<[grantId: Uuid, kind: ArtifactKindName, most: number]>(
  "identity.oauth_artifacts.trim",
  `DELETE FROM identity.oauth_artifacts
   WHERE grant_id = $1 AND kind = $2 AND expires_at < (
     SELECT expires_at FROM identity.oauth_artifacts WHERE grant_id = $1 AND kind = $2
     ORDER BY expires_at DESC OFFSET $3 - 1 LIMIT 1
   )`,
);

export const findArtifact = statement<
  [kind: ArtifactKindName, idHash: Buffer, now: Instant],
  { payload: string; consumed_at: Micros | null }
>(
  "identity.oauth_artifacts.find",
  `SELECT payload, consumed_at FROM identity.oauth_artifacts WHERE kind = $1 AND id_hash = $2 AND expires_at > $3`,
);

/** The first use: of many at the same time one gets the row. */
export const consumeArtifact = statement<[kind: ArtifactKindName, idHash: Buffer, now: Instant], { good: boolean }>(
  "identity.oauth_artifacts.consume",
  `UPDATE identity.oauth_artifacts SET consumed_at = $3
   WHERE kind = $1 AND id_hash = $2 AND expires_at > $3 AND consumed_at IS NULL
   RETURNING true AS good`,
);

/** An artifact that was used, and whether a token that was given for it was used since. */
export const findConsumed = statement<
  [kind: ArtifactKindName, idHash: Buffer, now: Instant],
  { grant_id: Uuid | null; consumed_at: Micros; is_succeeded: boolean }
>(
  "identity.oauth_artifacts.find_consumed",
  `SELECT grant_id, consumed_at, EXISTS (
     SELECT FROM identity.oauth_artifacts s
     WHERE s.predecessor_hash = $2 AND (s.used_at IS NOT NULL OR s.consumed_at IS NOT NULL)
   ) AS is_succeeded
   FROM identity.oauth_artifacts
   WHERE kind = $1 AND id_hash = $2 AND expires_at > $3 AND consumed_at IS NOT NULL`,
);

/** Expired tokens, and those of a grant that has ended or of an app that is suspended, give no row. */
export const findAccessToken = statement<[idHash: Buffer, now: Instant], AccessTokenRow>(
  "identity.oauth_artifacts.find_access_token",
  `SELECT ${installationColumns}, ${propertyColumns}, a.scopes AS token_scopes, a.expires_at, a.used_at,
     app.name AS app_name
   FROM identity.oauth_artifacts a
   CROSS JOIN LATERAL (
     SELECT * FROM identity.installations WHERE grant_id = a.grant_id AND revoked_at IS NULL LIMIT 1
   ) AS i
   CROSS JOIN LATERAL (SELECT * FROM identity.properties WHERE id = i.property_id LIMIT 1) AS p
   CROSS JOIN LATERAL (SELECT name FROM identity.apps WHERE id = i.app_id AND status = 'active' LIMIT 1) AS app
   WHERE a.kind = 'access_token' AND a.id_hash = $1 AND a.expires_at > $2`,
);

/** Stores the first use of an access token. */
export const noteTokenUse = statement<[idHash: Buffer, now: Instant]>(
  "identity.oauth_artifacts.note_use",
  `UPDATE identity.oauth_artifacts SET used_at = $2 WHERE kind = 'access_token' AND id_hash = $1 AND used_at IS NULL`,
);

export const deleteArtifact = statement<[kind: ArtifactKindName, idHash: Buffer]>(
  "identity.oauth_artifacts.delete",
  `DELETE FROM identity.oauth_artifacts WHERE kind = $1 AND id_hash = $2`,
);

/** At most some thousands: see artifactsPerGrantMax. */
export const deleteArtifactsOfGrant = statement<[grantId: Uuid]>(
  "identity.oauth_artifacts.delete_of_grant",
  `DELETE FROM identity.oauth_artifacts WHERE grant_id = $1`,
);

/** Gives a row for each. Planned with its values: whether the index helps depends on the size of the table. */
export const deleteExpiredArtifacts = plannedStatement<[now: Instant, rowsMax: number], { gone: boolean }>(
  `DELETE FROM identity.oauth_artifacts WHERE ctid = ANY(ARRAY(
     SELECT ctid FROM identity.oauth_artifacts WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
   )) RETURNING true AS gone`,
);
