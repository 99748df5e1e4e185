/** The endpoints of apps that have a webhook: one for each installation, with the url and types of the app. */
import { fromBinary } from "@bufbuild/protobuf";
import {
  InstallationStatus,
  RevokedReason,
  type AppWebhook,
  type Installation,
  type WebhookInstallation,
} from "#proto/daybook/identity/v1/apps_pb.ts";
import { KeyEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import { inChunks, withTransaction } from "#shared/database/postgres.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { repeat, type Repeated } from "#shared/scheduling/repeat.ts";
import { decodeId, deriveUuid, type Uuid } from "#shared/values/ids.ts";
import { formatMicros, fromTimestamp, toTimestamp } from "#shared/values/time.ts";
import { allTypes, typesAllowedBy } from "#shared/values/webhook-types.ts";
import { uninstalledJson } from "#shared/wire/webhooks.ts";
import type { WebhookContext } from "./context.ts";
import { deleteWithDeliveries } from "./disabling.ts";
import { deliveryIdOf, type Happening } from "./domain/happening.ts";
import { newSecret } from "./domain/signing.ts";
import { newBatch } from "./fan-out.ts";
import { noteProperty } from "./properties.ts";
import { sealAppSecret } from "./secrets.ts";
import * as sql from "./sql/apps.ts";
import { disableEndpoint } from "./sql/endpoints.ts";
import { forgetDeleted } from "./sql/settling.ts";
import { readProperty } from "./sql/properties.ts";

const lookIntervalMs = 3_000;
const installationsMax = 500;
const endingMax = 100;
const rowsMax = 1_000;
const callTimeoutMs = 10_000;
// What identity asks of whoever goes on after an answer.
const overlapMicros = 60 * 1_000_000;

/** Follows installations of apps, until it is closed. */
export function followApps(context: WebhookContext): Repeated {
  const { log, signals } = context;
  // Undefined at first: what changed while nothing ran is seen.
  let since: number | undefined;
  const looking = repeat(lookIntervalMs, log, "follow the installations of apps", async (signal) => {
    let asOf: number | undefined;
    for (let after: string | undefined; !signal.aborted;) {
      const {
        installations,
        hasMore,
        asOf: answered,
      } = await context.apps.listWebhookInstallations(
        {
          limit: installationsMax,
          ...(since !== undefined && { changedSince: toTimestamp(since) }),
          ...(after !== undefined && { afterInstallationId: after }),
        },
        systemCall("webhook", callTimeoutMs),
      );
      asOf ??= answered && fromTimestamp(answered);
      await follow(context, installations);
      after = installations.at(-1)?.installation?.id;
      if (!hasMore || after === undefined) break;
    }
    await endAll(context);
    if (!signal.aborted && asOf !== undefined) since = asOf - overlapMicros;
  });
  signals.subscribe(KeyEndingSchema.typeName, (payload) => {
    if (fromBinary(KeyEndingSchema, payload).keyId.startsWith("inst_")) looking.wake();
  });
  return looking;
}

type Known = Awaited<ReturnType<typeof sql.findOfApps>>[number];

async function follow(context: WebhookContext, installations: readonly WebhookInstallation[]): Promise<void> {
  const named = installations.flatMap(({ installation, webhook }) => {
    if (!installation) return [];
    const property = decodeId("prop", installation.propertyId, "property_id");
    const installationId = decodeId("inst", installation.id, "installation_id");
    return [{ installation, webhook, property, installationId, id: deriveUuid(installationId, "webhook_endpoint") }];
  });
  if (named.length === 0) return;
  const rows = await sql.findOfApps(context.database, [
    named.map(({ property }) => property),
    named.map(({ id }) => id),
  ]);
  const known = new Map(rows.map((row) => [row.id, row]));
  for (const each of named) {
    const row = known.get(each.id);
    const isActive = each.installation.status === InstallationStatus.ACTIVE;
    if (isActive && each.webhook) await write(context, { ...each, webhook: each.webhook }, row);
    else if (row && isActive) await deleteWithDeliveries(context, row.property_id, row.id);
    else if (row?.status === "enabled" && row.last_delivery_id === null) await end(context, each, row);
  }
}

interface Named {
  installation: Installation;
  property: Uuid;
  installationId: Uuid;
  id: Uuid;
}

async function write(
  context: WebhookContext,
  { installation, webhook, property, installationId, id }: Named & { webhook: AppWebhook },
  known: Known | undefined,
): Promise<void> {
  const { database, sealing, clock } = context;
  const types = typesOf(webhook, installation.scopes);
  const hasEnded = known?.disabled_reason === "owner_ended" || (known !== undefined && known.last_delivery_id !== null);
  if (known?.url === webhook.url && known.types.join() === types.join() && !hasEnded) return;
  const app = decodeId("app", installation.appId, "app_id");
  await noteProperty(context, property);
  await sql.addSecret(database, [app, sealAppSecret(sealing, app, newSecret())]);
  // Deliveries of an earlier life of the endpoint are not deleted any more.
  await forgetDeleted(database, [property, id]);
  const maker = [installation.revision, installation.id, installationId, app] as const;
  await sql.writeOfApp(database, [property, id, webhook.url, types, ...maker, formatMicros(clock.nowMicros())]);
  context.endpointChanged(id);
}

/** The types of an app that the scopes of an installation allow. */
function typesOf({ types }: AppWebhook, scopes: readonly string[]): string[] {
  const allowed = typesAllowedBy(scopes).filter((type) => type !== allTypes);
  return types.includes(allTypes) ? allowed : allowed.filter((type) => types.includes(type));
}

/** Sends an app its last message of an installation. One without a webhook, or that is suspended, gets none. */
async function end(
  context: WebhookContext,
  { installation, webhook, property, installationId, id }: Named & { webhook: AppWebhook | undefined },
  { url }: Known,
): Promise<void> {
  const { database, clock } = context;
  if (!webhook || installation.revokedReason === RevokedReason.SUSPENDED || url !== webhook.url) {
    await disableEndpoint(database, [property, id, "owner_ended", formatMicros(clock.nowMicros())]);
    context.settling.wake();
    return;
  }
  const at = installation.revokedAt ? fromTimestamp(installation.revokedAt) : clock.nowMicros();
  const happening: Happening = {
    property,
    type: "app.uninstalled",
    // It may be installed again, and uninstalled again.
    id: deriveUuid(installationId, `app.uninstalled ${at}`),
    at,
    data: () => uninstalledJson(installation.id),
    onlyEndpoint: id,
  };
  const last = deliveryIdOf(happening.id, id);
  const [known] = await readProperty(database, [property]);
  await withTransaction(database, async (tx) => {
    if ((await sql.setLastDelivery(tx, [property, id, last])).length === 0) return;
    const batch = newBatch({ database: tx, clock }, property, { onMade: () => undefined });
    await batch.add(happening, known?.livemode === true, installation.revision, [{ id: last, endpoint: id }], "live");
    await batch.store();
  });
  context.endpointChanged(id);
  context.deliveriesDue(property, new Set([id]));
}

/** Disables the endpoints whose last message is delivered, or has failed. Nothing but it is sent to them before. */
async function endAll({ database, clock, settling }: WebhookContext): Promise<void> {
  for (const { property_id: property, id, last_delivery_id: last } of await sql.findEnding(database, [endingMax])) {
    const now = formatMicros(clock.nowMicros());
    await inChunks(rowsMax, (rows) => sql.cancelOthers(database, [property, id, last, now, rows]));
    const pending = await sql.findPending(database, [property, last]);
    if (pending.length > 0) continue;
    await disableEndpoint(database, [property, id, "owner_ended", now]);
    settling.wake();
  }
}
