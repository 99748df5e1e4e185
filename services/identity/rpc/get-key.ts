import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetKeyResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { noSuchKey } from "../keys.ts";
import { toJoinedProperty, toKey } from "../mapping.ts";
import { findKey } from "../sql/keys.ts";

export function getKey({ database }: ServiceContext): ServiceImpl<typeof IdentityService>["getKey"] {
  return async ({ propertyId, keyId }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const [row] = await findKey(database, [property, decodeId("key", keyId, "key_id")]);
    if (!row) throw noSuchKey();
    return create(GetKeyResponseSchema, { key: toKey(row), property: toJoinedProperty(row) });
  };
}
