import type { ServiceImpl } from "@connectrpc/connect";
import type { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { decodeCallerId } from "../callers.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { requestsMax } from "../domain/windows.ts";
import { checkDistinct, readWindow } from "../leases.ts";
import { returnRequests as takeBack } from "../sql/rate-windows.ts";

const unusedMax = 500;

export function returnRequests({ database }: ServiceContext): ServiceImpl<typeof IdentityService>["returnRequests"] {
  return async ({ unused }) => {
    checkItemCount(unused.length, unusedMax, "unused");
    const items = unused.map(({ propertyId, keyId, window, startsAt, count }) => {
      if (count < 1 || count > requestsMax) {
        throw new DaybookError("parameter_invalid", "This is not a number of requests.", { param: "count" });
      }
      return {
        propertyId: decodeId("prop", propertyId, "property_id"),
        callerId: decodeCallerId(keyId, "key_id"),
        ...readWindow(window, startsAt),
        count,
      };
    });
    checkDistinct(items);
    const windows = items.map(({ propertyId, callerId, name, startsAt, count }) => ({
      property_id: propertyId,
      caller_id: callerId,
      name,
      starts_at: startsAt,
      count,
    }));
    await takeBack(database, [windows]);
    return {};
  };
}
