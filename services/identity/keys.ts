/** Stores keys: their hash, never their secret. */
import type { Micros } from "#shared/values/clock.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { newUuid, type Uuid } from "#shared/values/ids.ts";
import type { Queryable } from "#shared/database/postgres.ts";
import { newestRevision, type Revision } from "#shared/values/revisions.ts";
import { formatMicros } from "#shared/values/time.ts";
import { displayPrefix, hashSecret } from "./domain/secret.ts";
import { insertKey, type KeyRow } from "./sql/keys.ts";

/** A key to store. */
export interface NewKey {
  propertyId: Uuid;
  name: string;
  secret: string;
  scopes: readonly string[];
  revision?: Revision;
  createdAt: Micros;
  expiresAt: Micros | null;
  rateLimits?: KeyRateLimits;
}

/** Requests per minute; undefined means the gateways' default. */
export interface KeyRateLimits {
  ordinary?: number | undefined;
  backfill?: number | undefined;
}

/** Stores a key, by default with the newest revision. */
export async function storeKey(database: Queryable, key: NewKey): Promise<KeyRow> {
  const [row] = await insertKey(database, [
    key.propertyId,
    newUuid(),
    key.name,
    hashSecret(key.secret),
    displayPrefix(key.secret),
    key.scopes,
    key.revision ?? newestRevision,
    formatMicros(key.createdAt),
    key.expiresAt === null ? null : formatMicros(key.expiresAt),
    key.rateLimits?.ordinary ?? null,
    key.rateLimits?.backfill ?? null,
  ]);
  if (!row) throw new Error("the key was not stored");
  return row;
}

export function noSuchKey(): DaybookError {
  return new DaybookError("resource_not_found", "There is no such key.", { param: "key_id" });
}
