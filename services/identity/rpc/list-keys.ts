import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListKeysResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { toKey } from "../mapping.ts";
import { listKeys as list } from "../sql/keys.ts";

const limitMax = 500;

export function listKeys(context: ServiceContext): ServiceImpl<typeof IdentityService>["listKeys"] {
  return async ({ propertyId, limit, afterKeyId }) => {
    checkLimit(limit, limitMax, "keys");
    const property = decodeId("prop", propertyId, "property_id");
    const after = afterKeyId === undefined ? null : decodeId("key", afterKeyId, "after_key_id");
    const { rows, hasMore } = await pageOf(limit, (most) => list(context.database, [property, after, most]));
    return create(ListKeysResponseSchema, { keys: rows.map(toKey), hasMore });
  };
}
