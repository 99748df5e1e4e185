import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { EndGrantResponseSchema, type OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { endOfGrant } from "../apps/installations.ts";
import { toReasonName } from "../apps/mapping.ts";
import type { IdentityContext } from "../context.ts";

export function endGrant(context: IdentityContext): ServiceImpl<typeof OAuthService>["endGrant"] {
  return async ({ grantId, reason }) => {
    const id = decodeId("grnt", grantId, "grant_id");
    const name = toReasonName(reason);
    if (name !== "app" && name !== "token_reuse") {
      throw new DaybookError("parameter_invalid", "`reason` must be app or token_reuse.", { param: "reason" });
    }
    await endOfGrant(context, id, name);
    return create(EndGrantResponseSchema);
  };
}
