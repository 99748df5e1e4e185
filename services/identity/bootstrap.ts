/** Creates the demo properties of a first start, live and test, each with a key with all scopes. */
import { newUuid } from "#shared/values/ids.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros } from "#shared/values/time.ts";
import { scopes } from "./domain/scopes.ts";
import { hashSecret } from "./domain/secret.ts";
import type { ModeName } from "#shared/values/key-form.ts";
import { storeKey } from "./keys.ts";
import { findKeyByHash } from "./sql/keys.ts";
import { findAnyProperty, insertProperty, lockBootstrap } from "./sql/properties.ts";

/** Secrets of the keys of the demo properties. */
export type BootstrapKeys = Record<ModeName, string>;

/**
 * Creates the demo properties if there is no property. Of processes that start together, one creates them.
 * @returns whether they exist with these keys. This also holds for a retry after the database's answer was lost.
 */
export function bootstrap({ database, clock }: ServiceContext, secrets: BootstrapKeys): Promise<boolean> {
  return withTransaction(database, async (tx) => {
    await lockBootstrap(tx, []);
    const [existing] = await findAnyProperty(tx, []);
    const createdAt = clock.nowMicros();
    if (existing) {
      const [made] = await findKeyByHash(tx, [hashSecret(secrets.live), formatMicros(createdAt)]);
      return made !== undefined;
    }
    for (const mode of ["live", "test"] as const) {
      const propertyId = newUuid();
      await insertProperty(tx, [propertyId, `Demo (${mode})`, mode, formatMicros(createdAt), null, null]);
      await storeKey(tx, { propertyId, name: "bootstrap", secret: secrets[mode], scopes, createdAt, expiresAt: null });
    }
    return true;
  });
}
