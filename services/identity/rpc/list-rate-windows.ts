import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListRateWindowsResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { decodeId, nilUuid } from "#shared/values/ids.ts";
import { checkLimit } from "#shared/values/page.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import { decodeCallerId, encodeCallerId } from "../callers.ts";
import { startOfWindow } from "../domain/windows.ts";
import { windowOfName } from "../leases.ts";
import { listRateWindows as list } from "../sql/rate-windows.ts";

const limitMax = 500;

export function listRateWindows({
  database,
  clock,
}: ServiceContext): ServiceImpl<typeof IdentityService>["listRateWindows"] {
  return async ({ propertyId, limit, afterKeyId }) => {
    checkLimit(limit, limitMax, "callers");
    const property = decodeId("prop", propertyId, "property_id");
    const after = afterKeyId === undefined ? nilUuid : decodeCallerId(afterKeyId, "after_key_id");
    const now = clock.nowMicros();
    const startsAt = startOfWindow(now);
    // One more caller shows whether more follow.
    const rows = await list(database, [property, formatMicros(startsAt), after, limit + 1]);
    const callers = [...new Set(rows.map(({ caller_id: id, kind }) => encodeCallerId(kind, id)))];
    const page = new Set(callers.slice(0, limit));
    const last = callers.slice(0, limit).at(-1);
    return create(ListRateWindowsResponseSchema, {
      windows: rows.flatMap(({ caller_id: id, kind, name, requests_max: requestsMax, granted }) => {
        const callerId = encodeCallerId(kind, id);
        return name === null || !page.has(callerId)
          ? []
          : [{ keyId: callerId, window: windowOfName[name], limit: requestsMax, granted }];
      }),
      hasMore: callers.length > limit,
      ...(last === undefined ? {} : { lastKeyId: last }),
      startsAt: toTimestamp(startsAt),
      now: toTimestamp(now),
    });
  };
}
