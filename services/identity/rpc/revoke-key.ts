import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RevokeKeyResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { IdentityContext } from "../context.ts";
import { signalEnding } from "../caller-ending.ts";
import { noSuchKey } from "../keys.ts";
import { toKey } from "../mapping.ts";
import { revokeKey as revoke } from "../sql/keys.ts";

export function revokeKey({
  database,
  clock,
  signals,
}: IdentityContext): ServiceImpl<typeof IdentityService>["revokeKey"] {
  return async ({ propertyId, keyId }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const id = decodeId("key", keyId, "key_id");
    const [row] = await revoke(database, [property, id, formatMicros(clock.nowMicros())]);
    if (!row) throw noSuchKey();
    signalEnding(signals, keyId);
    return create(RevokeKeyResponseSchema, { key: toKey(row) });
  };
}
