import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { UpdatePropertyResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { checkName } from "../domain/names.ts";
import { readSettings } from "../domain/settings.ts";
import { toProperty } from "../mapping.ts";
import { updateProperty as update } from "../sql/properties.ts";

export function updateProperty({ database }: ServiceContext): ServiceImpl<typeof IdentityService>["updateProperty"] {
  return async (request) => {
    const id = decodeId("prop", request.propertyId, "property_id");
    const { name } = request;
    if (name !== undefined) checkName(name);
    const { defaultCurrency, timezone } = readSettings(request);
    const [row] = await update(database, [id, name ?? null, defaultCurrency, timezone]);
    if (!row) throw new DaybookError("resource_not_found", "There is no such property.", { param: "property_id" });
    return create(UpdatePropertyResponseSchema, { property: toProperty(row) });
  };
}
