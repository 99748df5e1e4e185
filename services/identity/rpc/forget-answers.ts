import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ForgetAnswersResponseSchema, type IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { checkItemCount } from "#shared/values/limits.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { forget, forgottenIdsMax } from "../operations.ts";

export function forgetAnswers(context: ServiceContext): ServiceImpl<typeof IdentityService>["forgetAnswers"] {
  return async (request) => {
    const { ids, texts, phones } = request;
    checkItemCount(ids.length + texts.length + phones.length, forgottenIdsMax, "ids");
    return create(ForgetAnswersResponseSchema, { forgotten: await forget(context, request) });
  };
}
