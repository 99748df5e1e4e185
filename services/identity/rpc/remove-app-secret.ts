import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RemoveAppSecretResponseSchema, type AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { noSuchApp, withItsSecrets } from "../apps/apps.ts";
import { deleteSecret, listSecrets, lockApp } from "../sql/apps.ts";

export function removeAppSecret({ database }: ServiceContext): ServiceImpl<typeof AppService>["removeAppSecret"] {
  return async ({ appId, secretId }) => {
    const id = decodeId("app", appId, "app_id");
    const wanted = decodeId("secr", secretId, "secret_id");
    return withTransaction(database, async (tx) => {
      const [row] = await lockApp(tx, [id]);
      if (!row) throw noSuchApp();
      const secrets = await listSecrets(tx, [[id]]);
      if (!secrets.some((secret) => secret.id === wanted)) {
        throw new DaybookError("resource_not_found", "The app has no such secret.", { param: "secret_id" });
      }
      if (secrets.length === 1) {
        const message = "The last secret of an app stays. Add another first, or suspend the app.";
        throw new DaybookError("invalid_state_transition", message, { param: "secret_id" });
      }
      await deleteSecret(tx, [id, wanted]);
      return create(RemoveAppSecretResponseSchema, { app: await withItsSecrets(tx, row) });
    });
  };
}
