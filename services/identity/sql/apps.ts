/** Partner apps and their secrets. */
import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { Instant } from "#shared/values/time.ts";
import type { AppStatusName, AppTypeName } from "../domain/apps.ts";

/** A row of identity.apps. */
export interface AppRow {
  id: Uuid;
  name: string;
  description: string;
  homepage_url: string | null;
  redirect_uris: string[];
  scopes: string[];
  type: AppTypeName;
  status: AppStatusName;
  /** Null without a webhook, as are its types. */
  webhook_url: string | null;
  webhook_types: string[] | null;
  created_at: Micros;
  updated_at: Micros;
}

/** A row of identity.app_secrets. */
export interface AppSecretRow {
  app_id: Uuid;
  id: Uuid;
  secret_hash: Buffer;
  display_prefix: string;
  created_at: Micros;
}

const columns = `id, name, description, homepage_url, redirect_uris, scopes, type, status, webhook_url, webhook_types,
  created_at, updated_at`;
const secretColumns = "app_id, id, secret_hash, display_prefix, created_at";

export const insertApp = statement<
  [
    id: Uuid,
    name: string,
    description: string,
    homepageUrl: string | null,
    redirectUris: readonly string[],
    scopes: readonly string[],
    type: AppTypeName,
    webhookUrl: string | null,
    webhookTypes: readonly string[] | null,
    now: Instant,
  ],
  AppRow
>(
  "identity.apps.insert",
  `INSERT INTO identity.apps (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, 'active', $8, $9, $10, $10)
   RETURNING ${columns}`,
);

export const findApp = statement<[id: Uuid], AppRow>(
  "identity.apps.find",
  `SELECT ${columns} FROM identity.apps WHERE id = $1`,
);

/** Reads and locks an app. What makes secrets and installations takes this lock. */
export const lockApp = statement<[id: Uuid], AppRow>(
  "identity.apps.lock",
  `SELECT ${columns} FROM identity.apps WHERE id = $1 FOR UPDATE`,
);

/** The apps after an id, or from the beginning. */
export const listApps = statement<[after: Uuid, limit: number], AppRow>(
  "identity.apps.list",
  `SELECT ${columns} FROM identity.apps WHERE id > $1 ORDER BY id LIMIT $2`,
);

/** The same of those that have an active installation in a property. */
export const listInstalledApps = statement<[property: Uuid, after: Uuid, limit: number], AppRow>(
  "identity.apps.list_installed",
  `SELECT a.* FROM (
     SELECT app_id FROM identity.installations
     WHERE property_id = $1 AND app_id > $2 AND revoked_at IS NULL
     ORDER BY app_id LIMIT $3
   ) AS i
   CROSS JOIN LATERAL (SELECT ${columns} FROM identity.apps WHERE id = i.app_id LIMIT 1) AS a
   ORDER BY a.id`,
);

/** Null keeps what is stored. An empty homepage removes it, and an empty address of a webhook removes the webhook. */
export const updateApp = statement<
  [
    id: Uuid,
    now: Instant,
    name: string | null,
    description: string | null,
    homepageUrl: string | null,
    redirectUris: readonly string[] | null,
    scopes: readonly string[] | null,
    status: AppStatusName | null,
    webhookUrl: string | null,
    webhookTypes: readonly string[] | null,
  ],
  AppRow
>(
  "identity.apps.update",
  `UPDATE identity.apps
   SET updated_at = $2, name = coalesce($3, name), description = coalesce($4, description),
       homepage_url = nullif(coalesce($5, homepage_url), ''), redirect_uris = coalesce($6, redirect_uris),
       scopes = coalesce($7, scopes), status = coalesce($8, status),
       webhook_url = nullif(coalesce($9, webhook_url), ''),
       webhook_types = CASE WHEN $9 = '' THEN NULL ELSE coalesce($10, webhook_types) END
   WHERE id = $1
   RETURNING ${columns}`,
);

export const insertSecret = statement<
  [appId: Uuid, id: Uuid, secretHash: Buffer, displayPrefix: string, createdAt: Instant]
>("identity.app_secrets.insert", `INSERT INTO identity.app_secrets (${secretColumns}) VALUES ($1, $2, $3, $4, $5)`);

/** The secrets of some apps, oldest first. */
export const listSecrets = statement<[appIds: readonly Uuid[]], AppSecretRow>(
  "identity.app_secrets.list",
  `SELECT ${secretColumns} FROM identity.app_secrets WHERE app_id = ANY($1::uuid[]) ORDER BY created_at, id`,
);

export const deleteSecret = statement<[appId: Uuid, id: Uuid]>(
  "identity.app_secrets.delete",
  `DELETE FROM identity.app_secrets WHERE app_id = $1 AND id = $2`,
);
