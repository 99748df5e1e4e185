import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ListWebhookInstallationsResponseSchema, type AppService } from "#proto/daybook/identity/v1/apps_pb.ts";
import type { ServiceContext } from "#shared/process/service.ts";
import { decodeId, nilUuid } from "#shared/values/ids.ts";
import { checkLimit, pageOf } from "#shared/values/page.ts";
import { formatMicros, fromTimestamp, toTimestamp } from "#shared/values/time.ts";
import { toInstallation, toWebhook } from "../apps/mapping.ts";
import { listChanged, listOfAll } from "../sql/installations.ts";

const limitMax = 500;

export function listWebhookInstallations({
  database,
  clock,
}: ServiceContext): ServiceImpl<typeof AppService>["listWebhookInstallations"] {
  return async ({ changedSince, limit, afterInstallationId }) => {
    checkLimit(limit, limitMax, "installations");
    const after =
      afterInstallationId === undefined ? nilUuid : decodeId("inst", afterInstallationId, "after_installation_id");
    // Before the rows are read: what changes while they are is seen by the next look.
    const asOf = toTimestamp(clock.nowMicros());
    const since = changedSince && formatMicros(fromTimestamp(changedSince));
    const { rows, hasMore } = await pageOf(limit, (most) =>
      since === undefined ? listOfAll(database, [after, most]) : listChanged(database, [since, after, most]),
    );
    return create(ListWebhookInstallationsResponseSchema, {
      installations: rows.map((row) => ({
        installation: toInstallation(row),
        webhook: row.app_status === "active" ? toWebhook(row) : undefined,
      })),
      hasMore,
      asOf,
    });
  };
}
