import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RotateKeyResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { isRevision } from "#shared/values/revisions.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { IdentityContext } from "../context.ts";
import { newSecret } from "../domain/secret.ts";
import { signalEnding } from "../caller-ending.ts";
import { noSuchKey, storeKey } from "../keys.ts";
import { toKey } from "../mapping.ts";
import { expireKey, lockKey } from "../sql/keys.ts";
import { findProperty } from "../sql/properties.ts";

const overlapSecondsMax = 30 * 24 * 60 * 60;

export function rotateKey({
  database,
  clock,
  signals,
}: IdentityContext): ServiceImpl<typeof IdentityService>["rotateKey"] {
  return async ({ propertyId, keyId, overlapSeconds }) => {
    if (overlapSeconds < 0 || overlapSeconds > overlapSecondsMax) {
      const message = `The overlap is 0 to ${overlapSecondsMax} seconds.`;
      throw new DaybookError("parameter_invalid", message, { param: "overlap_seconds" });
    }
    const property = decodeId("prop", propertyId, "property_id");
    const id = decodeId("key", keyId, "key_id");
    const now = clock.nowMicros();
    const rotated = await withTransaction(database, async (tx) => {
      const [old] = await lockKey(tx, [property, id]);
      const [owner] = await findProperty(tx, [property]);
      if (!old || !owner) throw noSuchKey();
      if (old.revoked_at !== null || (old.expires_at !== null && old.expires_at <= now)) {
        throw new DaybookError("invalid_state_transition", "`key_id` names a key that has ended.", { param: "key_id" });
      }
      const secret = newSecret(owner.mode);
      const row = await storeKey(tx, {
        propertyId: property,
        name: old.name,
        secret,
        scopes: old.scopes,
        ...(isRevision(old.revision) ? { revision: old.revision } : {}),
        createdAt: now,
        expiresAt: old.expires_at,
        rateLimits: { ordinary: old.rate_limit_ordinary ?? undefined, backfill: old.rate_limit_backfill ?? undefined },
      });
      const [replaced] = await expireKey(tx, [property, id, formatMicros(now + overlapSeconds * 1_000_000)]);
      if (!replaced) throw noSuchKey();
      return { row, secret, replaced };
    });
    const { row, secret, replaced } = rotated;
    signalEnding(signals, keyId);
    return create(RotateKeyResponseSchema, { key: toKey(row), secret, replaced: toKey(replaced) });
  };
}
