import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { AuthenticateKeyResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import { callerRefused } from "../callers.ts";
import { leaseTo, readWishes } from "../leases.ts";
import { toJoinedProperty, toKey } from "../mapping.ts";
import { findKeyByHash } from "../sql/keys.ts";

export function authenticateKey(context: ServiceContext): ServiceImpl<typeof IdentityService>["authenticateKey"] {
  return async ({ secretHash, wishes }) => {
    const wanted = readWishes(wishes);
    const now = context.clock.nowMicros();
    const [row] = await findKeyByHash(context.database, [Buffer.from(secretHash), formatMicros(now)]);
    if (!row) throw callerRefused();
    return create(AuthenticateKeyResponseSchema, {
      key: toKey(row),
      property: toJoinedProperty(row),
      leases: await leaseTo(context, row, wanted),
      now: toTimestamp(now),
    });
  };
}
