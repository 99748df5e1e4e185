import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListPropertiesResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { toProperty } from "../mapping.ts";
import { listProperties as list } from "../sql/properties.ts";

const limitMax = 500;

export function listProperties(context: ServiceContext): ServiceImpl<typeof IdentityService>["listProperties"] {
  return async ({ limit, afterPropertyId }) => {
    if (limit < 1 || limit > limitMax) {
      throw new DaybookError("parameter_invalid", `A page has 1 to ${limitMax} properties.`, { param: "limit" });
    }
    const after = afterPropertyId === undefined ? null : decodeId("prop", afterPropertyId, "after_property_id");
    // One more than asked for tells whether more follow.
    const rows = await list(context.database, [after, limit + 1]);
    const properties = rows.slice(0, limit).map(toProperty);
    return create(ListPropertiesResponseSchema, { properties, hasMore: rows.length > limit });
  };
}
