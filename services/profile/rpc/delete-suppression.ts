import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { DeleteSuppressionResponseSchema, type PrivacyService } from "#proto/daybook/profile/v1/privacy_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import type { ProfileContext } from "../context.ts";
import { deleteSuppression as remove } from "../sql/suppressions.ts";

export function deleteSuppression({
  database,
}: ProfileContext): ServiceImpl<typeof PrivacyService>["deleteSuppression"] {
  return async ({ propertyId, suppressionId }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const id = decodeId("supp", suppressionId, "suppression_id");
    const [deleted] = await remove(database, [property, id]);
    if (deleted) return create(DeleteSuppressionResponseSchema, {});
    throw new DaybookError("resource_not_found", "There is no such suppression.", { param: "suppression_id" });
  };
}
