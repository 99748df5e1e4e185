import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetAppResponseSchema, type AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { decodeId } from "#shared/values/ids.ts";
import { withItsSecrets } from "../apps/apps.ts";
import { findApp } from "../sql/apps.ts";

export function getApp({ database }: ServiceContext): ServiceImpl<typeof AppService>["getApp"] {
  return async ({ appId }) => {
    const [row] = await findApp(database, [decodeId("app", appId, "app_id")]);
    return create(GetAppResponseSchema, { app: await withItsSecrets(database, row) });
  };
}
