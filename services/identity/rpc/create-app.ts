import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { CreateAppResponseSchema, type AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import { withTransaction } from "#shared/database/postgres.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { newUuid } from "#shared/values/ids.ts";
import { formatMicros } from "#shared/values/time.ts";
import { storeSecret, withItsSecrets } from "../apps/apps.ts";
import { toTypeName } from "../apps/mapping.ts";
import { faultsOfApp } from "../domain/apps.ts";
import { insertApp } from "../sql/apps.ts";

export function createApp({ database, clock }: ServiceContext): ServiceImpl<typeof AppService>["createApp"] {
  return async (request) => {
    const { name, description, homepageUrl, redirectUris, scopes, webhook } = request;
    const type = toTypeName(request.type);
    // Of an unknown type the rest is checked as of the one that may have most.
    const faults = faultsOfApp({ name, description, homepageUrl, redirectUris, scopes, webhook }, type ?? "public");
    if (type === undefined) {
      faults.push({ code: "parameter_invalid", message: "`type` must be confidential or public.", param: "type" });
    }
    if (type === undefined || faults.length > 0) throw DaybookError.ofFields(faults);
    const now = clock.nowMicros();
    return withTransaction(database, async (tx) => {
      const [row] = await insertApp(tx, [
        newUuid(),
        name,
        description,
        homepageUrl ?? null,
        redirectUris,
        [...new Set(scopes)],
        type,
        webhook?.url ?? null,
        webhook ? [...new Set(webhook.types)] : null,
        formatMicros(now),
      ]);
      const secret = row && type === "confidential" ? await storeSecret(tx, row.id, now) : undefined;
      return create(CreateAppResponseSchema, { app: await withItsSecrets(tx, row), secret });
    });
  };
}
