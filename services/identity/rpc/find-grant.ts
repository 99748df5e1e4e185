import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { FindGrantResponseSchema, type OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { toInstallation } from "../apps/mapping.ts";
import { findGrant as find } from "../sql/installations.ts";

export function findGrant({ database }: ServiceContext): ServiceImpl<typeof OAuthService>["findGrant"] {
  return async ({ grantId }) => {
    const [row] = await find(database, [decodeId("grnt", grantId, "grant_id")]);
    if (!row) throw new DaybookError("resource_not_found", "The grant has ended.", { param: "grant_id" });
    return create(FindGrantResponseSchema, { installation: toInstallation(row) });
  };
}
