import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { FindClientResponseSchema, type OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { decodeId } from "#shared/values/ids.ts";
import { noSuchApp } from "../apps/apps.ts";
import { toApp } from "../apps/mapping.ts";
import { findApp, listSecrets } from "../sql/apps.ts";

export function findClient({ database }: ServiceContext): ServiceImpl<typeof OAuthService>["findClient"] {
  return async ({ appId }) => {
    const id = decodeId("app", appId, "app_id");
    const [row] = await findApp(database, [id]);
    if (!row) throw noSuchApp();
    const secrets = await listSecrets(database, [[id]]);
    const secretHashes = secrets.map(({ secret_hash: hash }) => hash);
    return create(FindClientResponseSchema, { app: toApp(row, secrets), secretHashes });
  };
}
