/** The demo properties of a first start: one live, one test, each with a key that may do everything. */
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

/** The secrets of the demo properties' keys. */
export type BootstrapKeys = Record<ModeName, string>;

/**
 * Makes the demo properties if there is no property yet. Of several processes that start at once one makes them.
 * @returns whether they are there with these keys: a start whose last answer of the database was lost has made them, and comes here again.
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
