import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { InstallAppResponseSchema, type OAuthService } from "#proto/daybook/identity/v1/oauth_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId, encodeId, newUuid } from "#shared/values/ids.ts";
import { newestRevision } from "#shared/values/revisions.ts";
import { formatMicros } from "#shared/values/time.ts";
import { noSuchApp } from "../apps/apps.ts";
import { signalEnded } from "../apps/installations.ts";
import { toInstallation } from "../apps/mapping.ts";
import type { IdentityContext } from "../context.ts";
import { readConsent } from "../domain/apps.ts";
import { lockApp } from "../sql/apps.ts";
import { findInstallation, lockInstallation, storeConsent } from "../sql/installations.ts";
import { findProperty } from "../sql/properties.ts";
import { deleteArtifactsOfGrant } from "../sql/oauth-artifacts.ts";

export function installApp({
  database,
  clock,
  signals,
}: IdentityContext): ServiceImpl<typeof OAuthService>["installApp"] {
  return async ({ appId, propertyId, scopes, memberId }) => {
    const app = decodeId("app", appId, "app_id");
    const property = decodeId("prop", propertyId, "property_id");
    const member = decodeId("mem", memberId, "member_id");
    const now = formatMicros(clock.nowMicros());
    const grantId = newUuid();
    const { row, before } = await withTransaction(database, async (tx) => {
      // Two consents for the same app take turns, and a suspension comes before or after.
      const [known] = await lockApp(tx, [app]);
      if (!known) throw noSuchApp();
      if (known.status === "suspended") {
        throw new DaybookError("invalid_state_transition", "The app is suspended.", { param: "app_id" });
      }
      const granted = readConsent(scopes, known.scopes);
      const [owner] = await findProperty(tx, [property]);
      if (!owner) throw new DaybookError("resource_not_found", "There is no such property.", { param: "property_id" });
      const earlier = await lockInstallation(tx, [property, app]);
      const consent = [property, newUuid(), app, granted, newestRevision, grantId, member, now] as const;
      const [stored] = await storeConsent(tx, [...consent]);
      for (const { grant_id: grant } of earlier) await deleteArtifactsOfGrant(tx, [grant]);
      const [installed] = stored ? await findInstallation(tx, [property, stored.id]) : [];
      if (!installed) throw new Error("the installation was not stored");
      return { row: installed, before: earlier };
    });
    signalEnded(signals, before);
    return create(InstallAppResponseSchema, { installation: toInstallation(row), grantId: encodeId("grnt", grantId) });
  };
}
