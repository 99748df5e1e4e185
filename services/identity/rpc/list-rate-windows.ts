import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListRateWindowsResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { decodeId, encodeId, nilUuid } from "#shared/values/ids.ts";
import { checkLimit } from "#shared/values/page.ts";
import { formatMicros, toTimestamp } from "#shared/values/time.ts";
import { startOfWindow } from "../domain/windows.ts";
import { windowOfName } from "../leases.ts";
import { listRateWindows as list } from "../sql/rate-windows.ts";

const limitMax = 500;

export function listRateWindows({
  database,
  clock,
}: ServiceContext): ServiceImpl<typeof IdentityService>["listRateWindows"] {
  return async ({ propertyId, limit, afterKeyId }) => {
    checkLimit(limit, limitMax, "keys");
    const property = decodeId("prop", propertyId, "property_id");
    const after = afterKeyId === undefined ? nilUuid : decodeId("key", afterKeyId, "after_key_id");
    const now = clock.nowMicros();
    const startsAt = startOfWindow(now);
    // One more key shows whether more follow.
    const rows = await list(database, [property, formatMicros(startsAt), after, limit + 1]);
    const keys = [...new Set(rows.map(({ key_id: id }) => id))];
    const page = new Set(keys.slice(0, limit));
    const last = keys.slice(0, limit).at(-1);
    return create(ListRateWindowsResponseSchema, {
      windows: rows.flatMap(({ key_id: id, name, requests_max: requestsMax, granted }) =>
        name === null || !page.has(id)
          ? []
          : [{ keyId: encodeId("key", id), window: windowOfName[name], limit: requestsMax, granted }],
      ),
      hasMore: keys.length > limit,
      ...(last === undefined ? {} : { lastKeyId: encodeId("key", last) }),
      startsAt: toTimestamp(startsAt),
      now: toTimestamp(now),
    });
  };
}
