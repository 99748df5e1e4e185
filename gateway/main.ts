/** The gateway as a process of its own. It reaches the services by URL. */
import { systemClock } from "#shared/values/clock.ts";
import { readSettings } from "#shared/process/config.ts";
import { runProcess } from "#shared/process/lifecycle.ts";
import { version } from "#shared/process/version.ts";
import { createLog } from "#shared/process/log.ts";
import { readOptionalNatsSettings } from "#shared/bus/nats/settings.ts";
import { connectNatsSignals } from "#shared/bus/nats/signals.ts";
import { createSigner } from "#shared/bus/nats/signature.ts";
import { readMeshSettings } from "#shared/process/service-process.ts";
import { createRegistry, serveInternal } from "#shared/rpc/server.ts";
import { startTracing } from "#shared/tracing/start.ts";
import { createGateway } from "./app.ts";
import { createClients } from "./clients.ts";
import { connectServices, readGatewaySettings, readServiceUrls } from "./config.ts";
import { createGatewayReadiness } from "./readiness.ts";

const log = createLog("gateway", process.env.LOG_LEVEL ?? "info");

await runProcess(log, async (owner) => {
  const settings = readSettings(process.env, (reader) => ({
    ...readMeshSettings(reader),
    ...readGatewaySettings(reader),
    urls: readServiceUrls(reader),
    nats: readOptionalNatsSettings(reader),
  }));
  const { host, port, internalPort, internalToken, acceptedToken } = settings;
  owner.own(await startTracing(settings.tracing, "daybook-gateway", log));
  const clients = createClients(connectServices(settings.urls, internalToken));
  const registry = createRegistry();
  const readiness = createGatewayReadiness(clients);
  owner.own(await serveInternal({ host, port: internalPort, registry, checkReady: () => readiness.check() }));
  const signer = createSigner(internalToken, acceptedToken);
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
    dashboard: settings.dashboard,
    oauth: settings.oauth,
    readiness,
    secret: internalToken,
    acceptedSecret: acceptedToken,
  });
  owner.defer(() => app.close());
  await app.listen({ host, port });
  log.info({ version, host, port }, "ready");
});
