import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListInstallationsResponseSchema, type AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, nilUuid } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import { missing } from "#shared/values/wording.ts";
import { toInstallation } from "../apps/mapping.ts";
import { listOfApp, listOfProperty } from "../sql/installations.ts";

const limitMax = 500;

export function listInstallations({ database }: ServiceContext): ServiceImpl<typeof AppService>["listInstallations"] {
  return async ({ propertyId, appId, limit, afterInstallationId }) => {
    checkLimit(limit, limitMax, "installations");
    const property = propertyId === undefined ? null : decodeId("prop", propertyId, "property_id");
    const app = appId === undefined ? null : decodeId("app", appId, "app_id");
    const after =
      afterInstallationId === undefined ? nilUuid : decodeId("inst", afterInstallationId, "after_installation_id");
    if (property === null && app === null) {
      throw DaybookError.ofFields([missing("property_id", "a property, an app, or both")]);
    }
    const { rows, hasMore } = await pageOf(limit, (most) =>
      property === null
        ? listOfApp(database, [app ?? nilUuid, after, most])
        : listOfProperty(database, [property, app, after, most]),
    );
    return create(ListInstallationsResponseSchema, { installations: rows.map(toInstallation), hasMore });
  };
}
