/** `npm start`: all of Daybook in one process, over an embedded PostgreSQL unless DATABASE_URL names another. */
import { join, resolve } from "node:path";
import { readSettings } from "#shared/config.ts";
import { runProcess, type Owner } from "#shared/lifecycle.ts";
import { createLog } from "#shared/log.ts";
import { createRegistry, serveInternal } from "#shared/server.ts";
import { readGatewaySettings } from "../../gateway/config.ts";
import { isSecret, newSecret, type ModeName } from "../../services/identity/domain/secret.ts";
import { startDaybook } from "./daybook.ts";
import { startPostgres } from "./postgres.ts";
import { claimFolder, newInternalSecret, readSecrets } from "./state.ts";

const log = createLog("daybook", process.env.LOG_LEVEL ?? "warn");

function readLocalSettings() {
  return readSettings(process.env, (reader) => {
    const key = (mode: ModeName, name: string): string | undefined => {
      const secret = reader.optional(name);
      if (secret !== undefined && !isSecret(secret, mode)) {
        reader.problem(`${name} must be sk_${mode}_ and at least 32 letters and digits`);
      }
      return secret;
    };
    return {
      ...readGatewaySettings(reader),
      host: reader.text("HOST", "127.0.0.1"),
      dataDir: resolve(reader.text("DATA_DIR", ".daybook")),
      databaseUrl: reader.optionalUrl("DATABASE_URL", ["postgres:", "postgresql:"]),
      natsUrl: reader.optionalUrl("NATS_URL", ["nats:", "tls:"]),
      liveKey: key("live", "BOOTSTRAP_LIVE_KEY"),
      testKey: key("test", "BOOTSTRAP_TEST_KEY"),
    };
  });
}

async function start(owner: Owner): Promise<void> {
  const settings = readLocalSettings();
  const { host, dataDir } = settings;
  const giveBack = await claimFolder(dataDir);
  owner.defer(giveBack);
  const secrets = await readSecrets(dataDir, () => ({
    databasePassword: newInternalSecret(),
    internalToken: newInternalSecret(),
    liveKey: settings.liveKey ?? newSecret("live"),
    testKey: settings.testKey ?? newSecret("test"),
  }));
  let { databaseUrl } = settings;
  if (databaseUrl === undefined) {
    process.stdout.write("Starting the database …\n");
    databaseUrl = owner.own(await startPostgres(join(dataDir, "postgres"), secrets.databasePassword)).url;
  }
  const registry = createRegistry();
  const { gateway, checkReady, isNew } = await startDaybook(
    {
      databaseUrl,
      natsUrl: settings.natsUrl,
      internalToken: secrets.internalToken,
      bootstrapKeys: { live: secrets.liveKey, test: secrets.testKey },
      limits: settings.limits,
      log,
      registry,
    },
    owner,
  );
  owner.own(await serveInternal({ host, port: settings.internalPort, registry, checkReady }));
  const address = await gateway.listen({ host, port: settings.port });
  process.stdout.write(welcome(address, secrets, isNew));
}

function welcome(address: string, { liveKey, testKey }: { liveKey: string; testKey: string }, isNew: boolean): string {
  const event = {
    type: "order.completed",
    identifier: { type: "email", value: "ada@example.com" },
    properties: { order_id: "1001", items: [{ sku: "TEA-1", quantity: 2 }] },
    value: "49.90",
    currency: "EUR",
  };
  return `
Daybook is ready at ${address}

  Key for tests:      ${testKey}
  Key for real data:  ${liveKey}
${isNew ? "" : "  (as made at the first start on this folder)\n"}
Record an event:

curl -sS ${address}/v1/events -H 'Authorization: Bearer ${testKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(event)}'

`;
}

await runProcess(log, start);
