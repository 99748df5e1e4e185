import type { ServiceImpl } from "@connectrpc/connect";
import type { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { decodeCallerId } from "../callers.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { fromTimestamp } from "#shared/values/time.ts";
import { noteUse as note } from "../sql/caller-uses.ts";

const usesMax = 500;

export function noteKeyUse({ database, clock }: ServiceContext): ServiceImpl<typeof IdentityService>["noteKeyUse"] {
  return async ({ uses }) => {
    checkItemCount(uses.length, usesMax, "uses");
    const now = clock.nowMicros();
    const items = uses.map(({ propertyId, keyId, usedAt }) => {
      if (!usedAt) throw new DaybookError("parameter_missing", "A use has a time.", { param: "used_at" });
      return {
        property_id: decodeId("prop", propertyId, "property_id"),
        id: decodeCallerId(keyId, "key_id"),
        used_at: Math.min(now, fromTimestamp(usedAt)),
      };
    });
    if (new Set(items.map(({ id }) => id)).size < items.length) {
      throw new DaybookError("parameter_conflict", "A caller is there more than once.", { param: "key_id" });
    }
    await note(database, [items]);
    return {};
  };
}
