/** Installations: the access of an app to a property, and the grant that is its last consent. */
import { columns, type Rows } from "#shared/database/columns.ts";
import { statement } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import type { Uuid } from "#shared/values/ids.ts";
import type { ModeName } from "#shared/values/key-form.ts";
import type { Instant } from "#shared/values/time.ts";
import type { AppStatusName, RevokedReasonName } from "../domain/apps.ts";
import type { AppRow } from "./apps.ts";
import { lastUse } from "./caller-uses.ts";

/** A row of identity.installations, with the mode of its property. */
export interface InstallationRow {
  property_id: Uuid;
  id: Uuid;
  app_id: Uuid;
  mode: ModeName;
  scopes: string[];
  revision: string;
  revoked_reason: RevokedReasonName | null;
  installed_by: Uuid;
  created_at: Micros;
  updated_at: Micros;
  revoked_at: Micros | null;
  last_used_at: Micros | null;
}

/** What ended, for who has to know. */
export interface EndedRow {
  id: Uuid;
  grant_id: Uuid;
}

/** The columns of InstallationRow that are of the installation `i` alone. */
export const installationColumns = `i.property_id, i.id, i.app_id, i.scopes, i.revision, i.revoked_reason,
          i.installed_by, i.created_at, i.updated_at, i.revoked_at, ${lastUse("i")}`;
const property = "CROSS JOIN LATERAL (SELECT mode FROM identity.properties WHERE id = i.property_id LIMIT 1) AS p";
const withProperty = `${installationColumns}, p.mode FROM identity.installations i ${property}`;

export const findInstallation = statement<[property: Uuid, id: Uuid], InstallationRow>(
  "identity.installations.find",
  `SELECT ${withProperty} WHERE i.property_id = $1 AND i.id = $2`,
);

/** The installation of a grant that has not ended, of an app that is active. */
export const findGrant = statement<[grantId: Uuid], InstallationRow>(
  "identity.installations.find_grant",
  `SELECT ${withProperty}
   CROSS JOIN LATERAL (SELECT FROM identity.apps WHERE id = i.app_id AND status = 'active' LIMIT 1) AS a
   WHERE i.grant_id = $1 AND i.revoked_at IS NULL`,
);

/** The installations of a property after an id; null does not filter by an app. */
export const listOfProperty = statement<
  [property: Uuid, appId: Uuid | null, after: Uuid, limit: number],
  InstallationRow
>(
  "identity.installations.list_of_property",
  `SELECT ${installationColumns}, p.mode FROM (
     SELECT * FROM identity.installations
     WHERE property_id = $1 AND ($2::uuid IS NULL OR app_id = $2) AND id > $3
     ORDER BY id LIMIT $4
   ) AS i ${property}
   ORDER BY i.id`,
);

/** The installations of an app after an id. */
export const listOfApp = statement<[appId: Uuid, after: Uuid, limit: number], InstallationRow>(
  "identity.installations.list_of_app",
  `SELECT ${installationColumns}, p.mode FROM (
     SELECT * FROM identity.installations WHERE app_id = $1 AND id > $2 ORDER BY id LIMIT $3
   ) AS i ${property}
   ORDER BY i.id`,
);

/** An installation with what its webhooks need of its app. */
export type WebhookInstallationRow = InstallationRow &
  Pick<AppRow, "webhook_url" | "webhook_types"> & { app_status: AppStatusName };

const withWebhook = `${installationColumns}, p.mode, a.webhook_url, a.webhook_types, a.status AS app_status`;
const app = `CROSS JOIN LATERAL (
     SELECT webhook_url, webhook_types, status FROM identity.apps WHERE id = i.app_id LIMIT 1
   ) AS a`;

/** All installations after an id. */
export const listOfAll = statement<[after: Uuid, limit: number], WebhookInstallationRow>(
  "identity.installations.list_of_all",
  `SELECT ${withWebhook}
   FROM (SELECT * FROM identity.installations WHERE id > $1 ORDER BY id LIMIT $2) AS i ${property} ${app}
   ORDER BY i.id`,
);

/**
 * Those after an id that changed at an instant or later, or whose app did. A range with two ends and OFFSET make the
 * planner find those that changed first, also before it has statistics.
 */
export const listChanged = statement<[since: Instant, after: Uuid, limit: number], WebhookInstallationRow>(
  "identity.installations.list_changed",
  `SELECT ${withWebhook}
   FROM (
     (SELECT * FROM (
        SELECT * FROM identity.installations WHERE updated_at BETWEEN $1 AND 'infinity' OFFSET 0
      ) AS own
      WHERE id > $2 ORDER BY id LIMIT $3)
     UNION
     (SELECT o.* FROM (SELECT id FROM identity.apps WHERE updated_at BETWEEN $1 AND 'infinity') AS changed
      CROSS JOIN LATERAL (
        SELECT * FROM identity.installations WHERE app_id = changed.id AND id > $2 ORDER BY id LIMIT $3
      ) AS o
      ORDER BY o.id LIMIT $3)
     ORDER BY id LIMIT $3
   ) AS i ${property} ${app}
   ORDER BY i.id`,
);

const wanted = columns(1, { property_id: "uuid", id: "uuid" });

/** What some installations may do now. Those that are not there give no row. */
export const describeInstallations = statement<
  [wanted: Rows<typeof wanted>],
  { id: Uuid; name: string; scopes: string[]; active: boolean }
>(
  "identity.installations.describe",
  `SELECT i.id, a.name, i.scopes, i.revoked_at IS NULL AND a.status = 'active' AS active
   FROM ${wanted.as("w")}
   CROSS JOIN LATERAL (
     SELECT id, app_id, scopes, revoked_at FROM identity.installations
     WHERE property_id = w.property_id AND id = w.id LIMIT 1
   ) AS i
   CROSS JOIN LATERAL (SELECT name, status FROM identity.apps WHERE id = i.app_id LIMIT 1) AS a`,
  wanted,
);

/** Reads and locks the installation of an app in a property. */
export const lockInstallation = statement<[property: Uuid, appId: Uuid], EndedRow>(
  "identity.installations.lock",
  `SELECT id, grant_id FROM identity.installations WHERE property_id = $1 AND app_id = $2 FOR UPDATE`,
);

/** Stores a consent. An installation that there is keeps its id and when it was made. */
export const storeConsent = statement<
  [
    property: Uuid,
    id: Uuid,
    appId: Uuid,
    scopes: readonly string[],
    revision: string,
    grantId: Uuid,
    installedBy: Uuid,
    now: Instant,
  ],
  { id: Uuid }
>(
  "identity.installations.store_consent",
  `INSERT INTO identity.installations
     (property_id, id, app_id, scopes, revision, grant_id, installed_by, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
   ON CONFLICT (property_id, app_id) DO UPDATE SET
     scopes = excluded.scopes, revision = excluded.revision, grant_id = excluded.grant_id,
     installed_by = excluded.installed_by, updated_at = excluded.updated_at, revoked_reason = NULL, revoked_at = NULL
   RETURNING id`,
);

/** Ends an installation. One that has ended gives no row. */
export const endInstallation = statement<[property: Uuid, id: Uuid, reason: RevokedReasonName, now: Instant], EndedRow>(
  "identity.installations.end",
  `UPDATE identity.installations SET revoked_reason = $3, revoked_at = $4, updated_at = $4
   WHERE property_id = $1 AND id = $2 AND revoked_at IS NULL
   RETURNING id, grant_id`,
);

/** Ends the installation of a grant, unless it has ended or has another grant by now: then it gives no row. */
export const endGrant = statement<[grantId: Uuid, reason: RevokedReasonName, now: Instant], EndedRow>(
  "identity.installations.end_grant",
  `UPDATE identity.installations SET revoked_reason = $2, revoked_at = $3, updated_at = $3
   WHERE grant_id = $1 AND revoked_at IS NULL
   RETURNING id, grant_id`,
);

/** Ends all installations of an app that is suspended. Gives a row for each. */
export const endOfApp = statement<[appId: Uuid, now: Instant], EndedRow>(
  "identity.installations.end_of_app",
  `UPDATE identity.installations SET revoked_reason = 'suspended', revoked_at = $2, updated_at = $2
   WHERE app_id = $1 AND revoked_at IS NULL
   RETURNING id, grant_id`,
);
