import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { RotateAppWebhookSecretResponseSchema, type WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import { onwardOptions } from "#shared/rpc/interceptors.ts";
import { decodeId } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import type { WebhookContext } from "../context.ts";
import { readGrace } from "../domain/grace.ts";
import { newSecret } from "../domain/signing.ts";
import { sealAppSecret } from "../secrets.ts";
import { addSecret, rotateAppSecret } from "../sql/apps.ts";

export function rotateAppWebhookSecret({
  database,
  clock,
  sealing,
  apps,
}: WebhookContext): ServiceImpl<typeof WebhookService>["rotateAppWebhookSecret"] {
  return async ({ appId, graceSeconds }, handlerContext) => {
    const app = decodeId("app", appId, "app_id");
    const previousUntil = readGrace(graceSeconds, clock.nowMicros());
    // Fails without such an app.
    await apps.getApp({ appId }, onwardOptions(handlerContext));
    const secret = newSecret();
    const sealed = sealAppSecret(sealing, app, secret);
    await withTransaction(database, async (tx) => {
      await addSecret(tx, [app, sealed]);
      await rotateAppSecret(tx, [app, sealed, previousUntil === null ? null : formatMicros(previousUntil)]);
    });
    return create(RotateAppWebhookSecretResponseSchema, { secret });
  };
}
