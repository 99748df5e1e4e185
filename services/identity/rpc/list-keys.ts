import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListKeysResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { toKey } from "../mapping.ts";
import { listKeys as list } from "../sql/keys.ts";

const limitMax = 500;

export function listKeys(context: ServiceContext): ServiceImpl<typeof IdentityService>["listKeys"] {
  return async ({ propertyId, limit, afterKeyId }) => {
    if (limit < 1 || limit > limitMax) {
      throw new DaybookError("parameter_invalid", `A page has 1 to ${limitMax} keys.`, { param: "limit" });
    }
    const property = decodeId("prop", propertyId, "property_id");
    const after = afterKeyId === undefined ? null : decodeId("key", afterKeyId, "after_key_id");
    // One more than asked for tells whether more follow.
    const rows = await list(context.database, [property, after, limit + 1]);
    return create(ListKeysResponseSchema, { keys: rows.slice(0, limit).map(toKey), hasMore: rows.length > limit });
  };
}
