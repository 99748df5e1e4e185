/** Partner apps with their secrets. */
import type { App } from "#proto/daybook/identity/v1/apps_pb.ts";
import type { Queryable, Transaction } from "#shared/database/postgres.ts";
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { newUuid, type Uuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { newAppSecret } from "../domain/apps.ts";
import { displayPrefix, hashSecret } from "../domain/secret.ts";
import { insertSecret, listSecrets, type AppRow } from "../sql/apps.ts";
import { toApp } from "./mapping.ts";

export function noSuchApp(): DaybookError {
  return new DaybookError("resource_not_found", "There is no such app.", { param: "app_id" });
}

/** Makes a secret of an app that is locked or new. @returns the secret, of which the hash is stored. */
export async function storeSecret(tx: Transaction, appId: Uuid, now: Micros): Promise<string> {
  const secret = newAppSecret();
  await insertSecret(tx, [appId, newUuid(), hashSecret(secret), displayPrefix(secret), formatMicros(now)]);
  return secret;
}

/** Adds their secrets to apps. */
export async function withSecrets(database: Queryable, rows: readonly AppRow[]): Promise<App[]> {
  const secrets = await listSecrets(database, [rows.map(({ id }) => id)]);
  const ofApp = Map.groupBy(secrets, ({ app_id: id }) => id);
  return rows.map((row) => toApp(row, ofApp.get(row.id) ?? []));
}

/** Adds its secrets to an app. @throws DaybookError `resource_not_found` without one. */
export async function withItsSecrets(database: Queryable, row: AppRow | undefined): Promise<App> {
  const [app] = row ? await withSecrets(database, [row]) : [];
  if (!app) throw noSuchApp();
  return app;
}
