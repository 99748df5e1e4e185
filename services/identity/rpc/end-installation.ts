import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { EndInstallationResponseSchema, type AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { noSuchInstallation, signalEnded } from "../apps/installations.ts";
import { toInstallation, toReasonName } from "../apps/mapping.ts";
import type { IdentityContext } from "../context.ts";
import { endInstallation as end, findInstallation } from "../sql/installations.ts";
import { deleteArtifactsOfGrant } from "../sql/oauth-artifacts.ts";

export function endInstallation({
  database,
  clock,
  signals,
}: IdentityContext): ServiceImpl<typeof AppService>["endInstallation"] {
  return async ({ propertyId, installationId, reason }) => {
    const property = decodeId("prop", propertyId, "property_id");
    const id = decodeId("inst", installationId, "installation_id");
    const name = toReasonName(reason);
    if (name !== "uninstalled" && name !== "operator") {
      const message = "`reason` must be uninstalled or operator.";
      throw new DaybookError("parameter_invalid", message, { param: "reason" });
    }
    const now = formatMicros(clock.nowMicros());
    const { row, ended } = await withTransaction(database, async (tx) => {
      const [gone] = await end(tx, [property, id, name, now]);
      if (gone) await deleteArtifactsOfGrant(tx, [gone.grant_id]);
      const [found] = await findInstallation(tx, [property, id]);
      if (!found) throw noSuchInstallation();
      return { row: found, ended: gone ? [gone] : [] };
    });
    signalEnded(signals, ended);
    return create(EndInstallationResponseSchema, { installation: toInstallation(row) });
  };
}
