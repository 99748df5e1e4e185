import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { AddAppSecretResponseSchema, type AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { noSuchApp, storeSecret, withItsSecrets } from "../apps/apps.ts";
import { secretsMax } from "../domain/apps.ts";
import { listSecrets, lockApp } from "../sql/apps.ts";

export function addAppSecret({ database, clock }: ServiceContext): ServiceImpl<typeof AppService>["addAppSecret"] {
  return async ({ appId }) => {
    const id = decodeId("app", appId, "app_id");
    return withTransaction(database, async (tx) => {
      const [row] = await lockApp(tx, [id]);
      if (!row) throw noSuchApp();
      if (row.type === "public") {
        throw new DaybookError("invalid_state_transition", "A public app has no secret.", { param: "app_id" });
      }
      if ((await listSecrets(tx, [[id]])).length >= secretsMax) {
        const message = `An app has at most ${secretsMax} secrets. Remove one first.`;
        throw new DaybookError("too_many_items", message, { param: "app_id" });
      }
      const secret = await storeSecret(tx, id, clock.nowMicros());
      return create(AddAppSecretResponseSchema, { app: await withItsSecrets(tx, row), secret });
    });
  };
}
