import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { LeaseRequestsResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { decodeCallerId } from "../callers.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { lease, readWish } from "../leases.ts";

const wishesMax = 500;

export function leaseRequests(context: ServiceContext): ServiceImpl<typeof IdentityService>["leaseRequests"] {
  return async ({ wishes }) => {
    checkItemCount(wishes.length, wishesMax, "wishes");
    const now = context.clock.nowMicros();
    const leases = await lease(
      context,
      wishes.map(({ propertyId, keyId, wish }) => {
        if (!wish) throw new DaybookError("parameter_missing", "A wish says for what.", { param: "wish" });
        return {
          propertyId: decodeId("prop", propertyId, "property_id"),
          callerId: decodeCallerId(keyId, "key_id"),
          ...readWish(wish),
        };
      }),
    );
    return create(LeaseRequestsResponseSchema, { leases, now: toTimestamp(now) });
  };
}
