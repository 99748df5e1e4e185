import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListAppsResponseSchema, type AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { decodeId, nilUuid } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import { withSecrets } from "../apps/apps.ts";
import { listApps as list, listInstalledApps } from "../sql/apps.ts";

const limitMax = 500;

export function listApps({ database }: ServiceContext): ServiceImpl<typeof AppService>["listApps"] {
  return async ({ limit, afterAppId, propertyId }) => {
    checkLimit(limit, limitMax, "apps");
    const after = afterAppId === undefined ? nilUuid : decodeId("app", afterAppId, "after_app_id");
    const property = propertyId === undefined ? undefined : decodeId("prop", propertyId, "property_id");
    const { rows, hasMore } = await pageOf(limit, (most) =>
      property === undefined ? list(database, [after, most]) : listInstalledApps(database, [property, after, most]),
    );
    return create(ListAppsResponseSchema, { apps: await withSecrets(database, rows), hasMore });
  };
}
