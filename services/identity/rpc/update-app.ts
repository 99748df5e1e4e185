import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { AppStatus, UpdateAppResponseSchema, type AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { checkFaults } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { noSuchApp, withItsSecrets } from "../apps/apps.ts";
import { signalEnded } from "../apps/installations.ts";
import { toStatusName } from "../apps/mapping.ts";
import type { IdentityContext } from "../context.ts";
import { faultsOfApp } from "../domain/apps.ts";
import { findApp, updateApp as update } from "../sql/apps.ts";
import { endOfApp } from "../sql/installations.ts";
import { deleteArtifactsOfGrant } from "../sql/oauth-artifacts.ts";

export function updateApp({ database, clock, signals }: IdentityContext): ServiceImpl<typeof AppService>["updateApp"] {
  return async (request) => {
    const id = decodeId("app", request.appId, "app_id");
    const { name, description, homepageUrl, webhook } = request;
    const redirectUris = request.redirectUris.length === 0 ? undefined : request.redirectUris;
    const scopes = request.scopes.length === 0 ? undefined : request.scopes;
    const status = toStatusName(request.status);
    const [known] = await findApp(database, [id]);
    if (!known) throw noSuchApp();
    // The type never changes, so what it allows holds without a lock. An empty homepage is none, and so is a webhook.
    const fields = {
      name,
      description,
      homepageUrl: homepageUrl || undefined,
      redirectUris,
      scopes,
      webhook: webhook?.url === "" ? undefined : webhook,
    };
    const faults = faultsOfApp(fields, known.type);
    if (status === undefined && request.status !== AppStatus.UNSPECIFIED) {
      faults.push({ code: "parameter_invalid", message: "`status` must be active or suspended.", param: "status" });
    }
    checkFaults(faults);

    const now = formatMicros(clock.nowMicros());
    const { app, ended } = await withTransaction(database, async (tx) => {
      const [row] = await update(tx, [
        id,
        now,
        name ?? null,
        description ?? null,
        homepageUrl ?? null,
        redirectUris ?? null,
        scopes ? [...new Set(scopes)] : null,
        status ?? null,
        webhook?.url ?? null,
        webhook ? [...new Set(webhook.types)] : null,
      ]);
      // The update locks the app, so an installation at the same moment is either here or refused.
      return {
        ended: row?.status === "suspended" ? await endOfApp(tx, [id, now]) : [],
        app: await withItsSecrets(tx, row),
      };
    });
    signalEnded(signals, ended);
    // After the commit, because there may be many: they open nothing any more.
    for (const { grant_id: grant } of ended) await deleteArtifactsOfGrant(database, [grant]);
    return create(UpdateAppResponseSchema, { app });
  };
}
