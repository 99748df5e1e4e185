import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { CreateKeyResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { DaybookError } from "#shared/errors.ts";
import { decodeId } from "#shared/ids.ts";
import type { ServiceContext } from "#shared/service.ts";
import { fromTimestamp } from "#shared/time.ts";
import { checkName } from "../domain/names.ts";
import { isScope } from "../domain/scopes.ts";
import { newSecret } from "../domain/secret.ts";
import { storeKey } from "../keys.ts";
import { toKey } from "../mapping.ts";
import { findProperty } from "../sql/properties.ts";

export function createKey(context: ServiceContext): ServiceImpl<typeof IdentityService>["createKey"] {
  return async (request) => {
    checkName(request.name);
    const unknown = request.scopes.find((scope) => !isScope(scope));
    if (request.scopes.length === 0 || unknown !== undefined) {
      const reason = unknown === undefined ? "A key has at least one scope." : "There is no such scope.";
      throw new DaybookError("parameter_invalid", reason, { param: "scopes" });
    }
    const propertyId = decodeId("prop", request.propertyId, "property_id");
    const [property] = await findProperty(context.database, [propertyId]);
    if (!property) throw new DaybookError("resource_not_found", "There is no such property.", { param: "property_id" });

    const secret = newSecret(property.mode);
    const row = await storeKey(context.database, {
      propertyId,
      name: request.name,
      secret,
      scopes: request.scopes,
      createdAt: context.clock.nowMicros(),
      expiresAt: request.expiresAt ? fromTimestamp(request.expiresAt) : null,
    });
    return create(CreateKeyResponseSchema, { key: toKey(row), secret });
  };
}
