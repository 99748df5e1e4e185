import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RenewOperationsResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { renew, operationsMax } from "../operations.ts";

export function renewOperations(context: ServiceContext): ServiceImpl<typeof IdentityService>["renewOperations"] {
  return async ({ operations }) => {
    checkItemCount(operations.length, operationsMax, "operations");
    await renew(context, operations);
    return create(RenewOperationsResponseSchema);
  };
}
