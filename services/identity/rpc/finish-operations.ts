import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { FinishOperationsResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { finish, operationsMax } from "../operations.ts";

export function finishOperations(context: ServiceContext): ServiceImpl<typeof IdentityService>["finishOperations"] {
  return async ({ operations }) => {
    checkItemCount(operations.length, operationsMax, "operations");
    return create(FinishOperationsResponseSchema, { counts: await finish(context, operations) });
  };
}
