import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { AuthenticateKeyResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import { lease, readWish } from "../leases.ts";
import { toKey, toPropertyOfKey } from "../mapping.ts";
import { findKeyByHash } from "../sql/keys.ts";

const wishesMax = 4;

export function authenticateKey(context: ServiceContext): ServiceImpl<typeof IdentityService>["authenticateKey"] {
  return async ({ secretHash, wishes }) => {
    if (wishes.length > wishesMax) {
      throw new DaybookError("too_many_items", `There are at most ${wishesMax} wishes.`, { param: "wishes" });
    }
    const now = context.clock.nowMicros();
    const [row] = await findKeyByHash(context.database, [Buffer.from(secretHash), formatMicros(now)]);
    if (!row) throw new DaybookError("invalid_api_key", "The API key is missing or not valid.");
    const { property_id: propertyId, id: callerId } = row;
    const leases = await lease(
      context,
      wishes.map((wish) => ({ propertyId, callerId, ...readWish(wish) })),
    );
    return create(AuthenticateKeyResponseSchema, {
      key: toKey(row),
      property: toPropertyOfKey(row),
      leases,
      now: toTimestamp(now),
    });
  };
}
