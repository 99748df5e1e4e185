/** The gateway alone, as a process; the services are reached by URL. */
import { systemClock } from "#shared/clock.ts";
import { readSettings } from "#shared/config.ts";
import { runProcess } from "#shared/lifecycle.ts";
import { createLog } from "#shared/log.ts";
import { readOptionalNatsSettings } from "#shared/nats/settings.ts";
import { connectNatsSignals } from "#shared/nats/signals.ts";
import { createSigner } from "#shared/nats/signature.ts";
import { readMeshSettings } from "#shared/process.ts";
import { createRegistry, serveInternal } from "#shared/server.ts";
import { createGateway } from "./app.ts";
import { createClients } from "./clients.ts";
import { connectServices, readGatewaySettings, readServiceUrls } from "./config.ts";
import { createReadiness } from "./readiness.ts";

const log = createLog("gateway", process.env.LOG_LEVEL ?? "info");

await runProcess(log, async (owner) => {
  const settings = readSettings(process.env, (reader) => ({
    ...readMeshSettings(reader),
    ...readGatewaySettings(reader),
    urls: readServiceUrls(reader),
    nats: readOptionalNatsSettings(reader),
  }));
  const { host, port, internalPort, internalToken } = settings;
  const clients = createClients(connectServices(settings.urls, internalToken));
  const registry = createRegistry();
  const readiness = createReadiness(clients.checkReady);
  owner.own(await serveInternal({ host, port: internalPort, registry, checkReady: () => readiness.check() }));
  const signer = createSigner(internalToken, settings.previousToken);
  const signals =
    settings.nats && owner.own(connectNatsSignals({ ...settings.nats, signer, name: "gateway", log, registry }));
  const app = await createGateway({
    clients,
    clock: systemClock,
    log,
    registry,
    limits: settings.limits,
    signals,
    compat: settings.compat,
    edge: settings.edge,
    readiness,
    secret: internalToken,
  });
  owner.defer(() => app.close());
  await app.listen({ host, port });
  log.info({ host, port }, "ready");
});
