/** `npm start`: Daybook in one process, on an embedded PostgreSQL unless DATABASE_URL is set. */
import { join, resolve } from "node:path";
import type { Transport } from "@connectrpc/connect";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { MemberService } from "#proto/daybook/identity/v1/members_pb.ts";
import { createServiceClient } from "#shared/rpc/clients.ts";
import { readSettings } from "#shared/process/config.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { version } from "#shared/process/version.ts";
import { runProcess, type Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { readOptionalNatsSettings } from "#shared/bus/nats/settings.ts";
import { DaybookError } from "#shared/values/errors.ts";
import type { ModeName } from "#shared/values/key-form.ts";
import { readOutboxBytesMax } from "#shared/outbox/room.ts";
import { readInternalTokens, readPooler } from "#shared/process/service-process.ts";
import { createRegistry, serveInternal, serveRpc } from "#shared/rpc/server.ts";
import { readTracing } from "#shared/tracing/settings.ts";
import { startTracing } from "#shared/tracing/start.ts";
import { readGatewaySettings } from "../../gateway/config.ts";
import { readEventSettings } from "../../services/event/config.ts";
import { readProfileSettings } from "../../services/profile/config.ts";
import { readWebhookSettings } from "../../services/webhook/config.ts";
import { readBootstrapKeys } from "../../services/identity/config.ts";
import { hashSecret, newSecret } from "../../services/identity/domain/secret.ts";
import { startDaybook } from "./daybook.ts";
import { startPostgres } from "./postgres.ts";
import { claimFolder, newInternalSecret, readSecrets, writeConnection } from "./state.ts";

const log = createLog("daybook", process.env.LOG_LEVEL ?? "warn");

function readLocalSettings() {
  return readSettings(process.env, (reader) => ({
    ...readGatewaySettings(reader),
    host: reader.text("HOST", "127.0.0.1"),
    dataDir: resolve(reader.text("DATA_DIR", ".daybook")),
    databaseUrl: reader.optionalUrl("DATABASE_URL", ["postgres:", "postgresql:"]),
    hasPooler: readPooler(reader),
    nats: readOptionalNatsSettings(reader),
    // Replicas over one database need the same. Alone, a process makes its own.
    internalToken: reader.optional("INTERNAL_TOKEN"),
    outboxBytesMax: readOutboxBytesMax(reader),
    bootstrapKeys: readBootstrapKeys(reader),
    profile: readProfileSettings(reader),
    event: readEventSettings(reader),
    webhook: readWebhookSettings(reader),
    tracing: readTracing(reader),
  }));
}

async function start(owner: Owner, stopping: AbortSignal): Promise<void> {
  const settings = readLocalSettings();
  const { host, dataDir } = settings;
  owner.own(await startTracing(settings.tracing, "daybook", log));
  const giveBack = await claimFolder(dataDir);
  owner.defer(giveBack);
  const secrets = await readSecrets(dataDir, () => ({
    databasePassword: newInternalSecret(),
    internalToken: newInternalSecret(),
    liveKey: settings.bootstrapKeys.live ?? newSecret("live"),
    testKey: settings.bootstrapKeys.test ?? newSecret("test"),
  }));
  // A comma separates two of them, as in INTERNAL_TOKEN of a mesh.
  const tokens = settings.internalToken ?? secrets.internalToken;
  const { internalToken, acceptedToken } = readSettings({ INTERNAL_TOKEN: tokens }, readInternalTokens);
  let { databaseUrl } = settings;
  if (databaseUrl === undefined) {
    process.stdout.write("Starting the database …\n");
    databaseUrl = owner.own(await startPostgres(join(dataDir, "postgres"), secrets.databasePassword)).url;
  }
  const registry = createRegistry();
  // Owned before the gateway, so it closes after it and reports this process as not ready meanwhile.
  let ready: () => Promise<void> = () => Promise.reject(new Error("still starting"));
  owner.own(await serveInternal({ host, port: settings.internalPort, registry, checkReady: () => ready() }));
  const { gateway, transports, routes, findClient, checkReady, isNew } = await startDaybook(
    {
      databaseUrl,
      hasPooler: settings.hasPooler,
      nats: settings.nats,
      outboxBytesMax: settings.outboxBytesMax,
      internalToken,
      acceptedToken,
      bootstrapKeys: { live: secrets.liveKey, test: secrets.testKey },
      limits: settings.limits,
      compat: settings.compat,
      edge: settings.edge,
      dashboard: settings.dashboard,
      oauth: settings.oauth,
      profile: settings.profile,
      event: settings.event,
      webhook: settings.webhook,
      log,
      registry,
    },
    owner,
    stopping,
  );
  ready = checkReady;
  const rpc = owner.own(
    await serveRpc({ routes, credentials: [internalToken], findClient, host: "127.0.0.1", port: 0, log, registry }),
  );
  const address = await gateway.listen({ host, port: settings.port });
  const publicUrl = settings.edge.publicUrl ?? address;
  const connection = { services_url: rpc.address, internal_token: internalToken, public_url: publicUrl };
  owner.defer(await writeConnection(dataDir, connection));
  const keys = isNew || (await isGood(secrets.testKey, transports.identity)) ? secrets : undefined;
  const setup = await makeSetupToken(transports.identity);
  process.stdout.write(welcome({ address, publicUrl, setup, keys, given: settings.bootstrapKeys }));
}

/** Whether a key is valid. A database that was in use before has other keys. */
async function isGood(secret: string, identity: Transport): Promise<boolean> {
  const call = systemCall("npm start");
  const client = createServiceClient(IdentityService, identity);
  return client.authenticateKey({ secretHash: hashSecret(secret) }, call).then(
    () => true,
    () => false,
  );
}

/** The token of a setup link while there is no member, else undefined. */
async function makeSetupToken(identity: Transport): Promise<string | undefined> {
  try {
    const { token } = await createServiceClient(MemberService, identity).createSetupLink({}, systemCall("npm start"));
    return token;
  } catch (error) {
    if (error instanceof DaybookError && error.code === "invalid_state_transition") return undefined;
    throw error;
  }
}

interface Welcome {
  address: string;
  publicUrl: string;
  /** The token of the setup link, which is shown nowhere else. */
  setup: string | undefined;
  keys: { liveKey: string; testKey: string } | undefined;
  /** Keys from settings. They are not repeated, because the output may go to a log that others read. */
  given: Record<ModeName, string | undefined>;
}

function welcome({ address, publicUrl, setup, keys, given }: Welcome): string {
  const event = {
    type: "order.completed",
    identifier: { type: "email", value: "ada@example.com" },
    properties: { order_id: "1001", items: [{ sku: "TEA-1", quantity: 2 }] },
    value: "49.90",
    currency: "EUR",
  };
  const show = (key: string, mode: ModeName): string =>
    given[mode] === undefined ? key : `the value of BOOTSTRAP_${mode.toUpperCase()}_KEY`;
  const shown = keys
    ? `  Key for tests:      ${show(keys.testKey, "test")}\n  Key for real data:  ${show(keys.liveKey, "live")}`
    : "  This database was in use before: its keys are those that were made then. Put one into DAYBOOK_KEY.";
  const variable = keys ? "$BOOTSTRAP_TEST_KEY" : "$DAYBOOK_KEY";
  const authorization =
    keys && given.test === undefined
      ? `'Authorization: Bearer ${keys.testKey}'`
      : `"Authorization: Bearer ${variable}"`;
  const dashboard =
    setup === undefined
      ? `${publicUrl}/dashboard`
      : `${publicUrl}/dashboard/setup#${setup}
  It works once, for an hour. npm start again, or npm run -s daybook -- members setup, makes another.`;
  return `
Daybook ${version} is ready at ${address}

Open the dashboard: ${dashboard}

${shown}

Record an event:

curl -sS ${address}/v1/events -H ${authorization} -H 'Content-Type: application/json' -d '${JSON.stringify(event)}'

`;
}

await runProcess(log, start);
