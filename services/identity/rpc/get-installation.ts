import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { GetInstallationResponseSchema, type AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { decodeId } from "#shared/values/ids.ts";
import { withItsSecrets } from "../apps/apps.ts";
import { noSuchInstallation } from "../apps/installations.ts";
import { toInstallation } from "../apps/mapping.ts";
import { toProperty } from "../mapping.ts";
import { findApp } from "../sql/apps.ts";
import { findInstallation } from "../sql/installations.ts";
import { findProperty } from "../sql/properties.ts";

export function getInstallation({ database }: ServiceContext): ServiceImpl<typeof AppService>["getInstallation"] {
  return async ({ propertyId, installationId }) => {
    const propertyUuid = decodeId("prop", propertyId, "property_id");
    const [row] = await findInstallation(database, [propertyUuid, decodeId("inst", installationId, "installation_id")]);
    const [property] = await findProperty(database, [propertyUuid]);
    if (!row || !property) throw noSuchInstallation();
    const [app] = await findApp(database, [row.app_id]);
    return create(GetInstallationResponseSchema, {
      installation: toInstallation(row),
      property: toProperty(property),
      app: await withItsSecrets(database, app),
    });
  };
}
