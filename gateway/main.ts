/** The gateway alone, as a process; the services are reached by URL. */
import { systemClock } from "#shared/clock.ts";
import { readSettings } from "#shared/config.ts";
import { runProcess } from "#shared/lifecycle.ts";
import { createLog } from "#shared/log.ts";
import { readMeshSettings } from "#shared/process.ts";
import { createRegistry, serveInternal } from "#shared/server.ts";
import { http2Transport } from "#shared/transport.ts";
import { createGateway } from "./app.ts";
import { createClients } from "./clients.ts";
import { readGatewaySettings } from "./config.ts";

const log = createLog("gateway", process.env.LOG_LEVEL ?? "info");

await runProcess(log, async (owner) => {
  const settings = readSettings(process.env, (reader) => {
    const service = (name: string, port: number): string => reader.url(name, ["http:"], `http://127.0.0.1:${port}`);
    return {
      ...readMeshSettings(reader),
      ...readGatewaySettings(reader),
      identityUrl: service("IDENTITY_URL", 8101),
      profileUrl: service("PROFILE_URL", 8102),
      eventUrl: service("EVENT_URL", 8103),
      metricUrl: service("METRIC_URL", 8104),
    };
  });
  const { host, port, internalPort, internalToken } = settings;
  const clients = createClients({
    identity: http2Transport(settings.identityUrl, internalToken),
    profiles: http2Transport(settings.profileUrl, internalToken),
    events: http2Transport(settings.eventUrl, internalToken),
    metrics: http2Transport(settings.metricUrl, internalToken),
  });
  const registry = createRegistry();
  owner.own(await serveInternal({ host, port: internalPort, registry, checkReady: clients.checkReady }));
  const app = await createGateway({
    clients,
    clock: systemClock,
    log,
    registry,
    limits: settings.limits,
    secret: internalToken,
  });
  owner.defer(() => app.close());
  await app.listen({ host, port });
  log.info({ host, port }, "ready");
});
