import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ClaimOperationsResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { claim, operationsMax } from "../operations.ts";

export function claimOperations(context: ServiceContext): ServiceImpl<typeof IdentityService>["claimOperations"] {
  return async ({ claims }) => {
    checkItemCount(claims.length, operationsMax, "claims");
    return create(ClaimOperationsResponseSchema, { outcomes: await claim(context, claims) });
  };
}
