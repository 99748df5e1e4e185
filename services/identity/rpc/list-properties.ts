import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListPropertiesResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { decodeId } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { toProperty } from "../mapping.ts";
import { listProperties as list } from "../sql/properties.ts";

const limitMax = 500;

export function listProperties(context: ServiceContext): ServiceImpl<typeof IdentityService>["listProperties"] {
  return async ({ limit, afterPropertyId }) => {
    checkLimit(limit, limitMax, "properties");
    const after = afterPropertyId === undefined ? null : decodeId("prop", afterPropertyId, "after_property_id");
    const { rows, hasMore } = await pageOf(limit, (most) => list(context.database, [after, most]));
    return create(ListPropertiesResponseSchema, { properties: rows.map(toProperty), hasMore });
  };
}
