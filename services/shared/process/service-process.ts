/** A service as a process of its own: settings, listeners, start and stop. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Transport } from "@connectrpc/connect";
import { systemClock } from "../values/clock.ts";
import { internalTokenLengthMin, readSettings, type SettingsReader } from "./config.ts";
import { readShutdownDelayMs, runProcess } from "./lifecycle.ts";
import { createLog } from "./log.ts";
import { openNatsBus } from "../bus/nats/open.ts";
import { readNatsSettings } from "../bus/nats/settings.ts";
import { createSigner } from "../bus/nats/signature.ts";
import { connectNatsSignals } from "../bus/nats/signals.ts";
import { divideConnections, openServiceDatabase } from "../database/reads.ts";
import { createRegistry, serveInternal, serveRpc } from "../rpc/server.ts";
import type { Service, ServiceContext } from "./service.ts";
import type { Signals } from "../bus/signals.ts";
import { startService } from "./start.ts";
import { http2Transport } from "../rpc/transport.ts";
import { serviceRoutes } from "../rpc/service-routes.ts";

/** What a service may ask of its process beyond its context. */
export interface ServiceProcess<Settings> {
  settings: Settings;
  /** A transport to the service at a URL. */
  connectTo: (url: string) => Transport;
  /** What goes to every process at once and is kept nowhere; opened for those who ask. */
  openSignals: () => Signals;
}

/** Which service to run. */
export interface ServiceDefinition<Settings> {
  /** Its name, such as `event`. */
  name: string;
  /** Where it listens unless PORT and INTERNAL_PORT say otherwise. */
  port: number;
  internalPort: number;
  /** Reads the settings that only this service has. */
  read(reader: SettingsReader): Settings;
  create(context: ServiceContext, process: ServiceProcess<Settings>): Service;
}

/** The settings of every process that talks to others. */
export function readMeshSettings(reader: SettingsReader) {
  return {
    internalToken: reader.secret("INTERNAL_TOKEN", internalTokenLengthMin),
    previousToken: readPreviousToken(reader),
    host: reader.text("HOST", "0.0.0.0"),
    logLevel: reader.text("LOG_LEVEL", "info"),
  };
}

/** Reads INTERNAL_TOKEN_PREVIOUS: what was signed with it, and is still on the bus, is taken. It opens nothing else. */
export function readPreviousToken(reader: SettingsReader): string | undefined {
  return reader.optionalSecret("INTERNAL_TOKEN_PREVIOUS", internalTokenLengthMin);
}

/** Runs a service until it is told to stop. */
export async function runService<Settings>(definition: ServiceDefinition<Settings>): Promise<void> {
  const { name } = definition;
  const log = createLog(name, process.env.LOG_LEVEL ?? "info");
  await runProcess(log, async (owner, stopping) => {
    const settings = readSettings(process.env, (reader) => ({
      ...readMeshSettings(reader),
      port: reader.integer("PORT", definition.port, 0, 65_535),
      internalPort: reader.integer("INTERNAL_PORT", definition.internalPort, 0, 65_535),
      databaseUrl: reader.url("DATABASE_URL", ["postgres:", "postgresql:"]),
      connectionsMax: reader.integer("DATABASE_CONNECTIONS_MAX", 10, 2, 1000),
      nats: readNatsSettings(reader),
      shutdownDelayMs: readShutdownDelayMs(reader),
      own: definition.read(reader),
    }));
    const { host, internalToken: credential } = settings;
    const signer = createSigner(credential, settings.previousToken);
    const registry = createRegistry();
    let ready: () => Promise<void> = () => Promise.reject(new Error("still starting"));
    owner.own(await serveInternal({ host, port: settings.internalPort, registry, checkReady: () => ready() }));

    const pools = openServiceDatabase({
      url: settings.databaseUrl,
      name,
      connections: divideConnections(settings.connectionsMax),
      log,
    });
    owner.defer(() => pools.end());
    const { database, reads } = pools;
    const bus = owner.own(openNatsBus({ ...settings.nats, signer, name, log, registry }));
    const context: ServiceContext = { database, reads, bus, clock: systemClock, log, registry };
    const service = owner.own(
      definition.create(context, {
        settings: settings.own,
        connectTo: (url) => http2Transport(url, credential),
        openSignals: () => owner.own(connectNatsSignals({ ...settings.nats, signer, name, log, registry })),
      }),
    );
    await startService(service, log, stopping);
    owner.own(
      await serveRpc({ routes: serviceRoutes(service, bus), credential, host, port: settings.port, log, registry }),
    );
    ready = () => service.checkReady();
    // The first of what is done at the end: whoever asks is sent elsewhere before connections are.
    owner.defer(async () => {
      ready = () => Promise.reject(new Error("stopping"));
      await sleep(settings.shutdownDelayMs);
    });
    log.info({ host, port: settings.port }, "ready");
  });
}
