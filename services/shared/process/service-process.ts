/** Runs a service in a process of its own. */
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
import { askIdentity } from "../rpc/admission.ts";
import { createRegistry, serveInternal, serveRpc } from "../rpc/server.ts";
import type { Service, ServiceContext } from "./service.ts";
import { version } from "./version.ts";
import type { Signals } from "../bus/signals.ts";
import { startService } from "./start.ts";
import { http2Transport } from "../rpc/transport.ts";
import { serviceRoutes } from "../rpc/service-routes.ts";
import { readTracing } from "../tracing/settings.ts";
import { startTracing } from "../tracing/start.ts";

/** What a service's process offers beyond the context. */
export interface ServiceProcess<Settings> {
  settings: Settings;
  /** A transport to the service at one URL or several. */
  connectTo: (urls: readonly string[]) => Transport;
  /** Opens the signals between processes, for services that use them. */
  openSignals: () => Signals;
}

export interface ServiceDefinition<Settings> {
  /** Its name, such as `event`. */
  name: string;
  /** The default of PORT; `internalPort` is the default of INTERNAL_PORT. */
  port: number;
  internalPort: number;
  /** Reads the settings of this service only. */
  read(reader: SettingsReader): Settings;
  create(context: ServiceContext, process: ServiceProcess<Settings>): Service;
}

/** Reads the settings of every process of a mesh. */
export function readMeshSettings(reader: SettingsReader) {
  return {
    ...readInternalTokens(reader),
    host: reader.text("HOST", "0.0.0.0"),
    logLevel: reader.text("LOG_LEVEL", "info"),
    tracing: readTracing(reader),
  };
}

/** The credentials of a mesh: two while the operator changes them. */
export interface InternalTokens {
  /** What this process sends, and signs and encrypts with. */
  internalToken: string;
  /** Accepted as well. */
  acceptedToken: string | undefined;
}

/** Reads INTERNAL_TOKEN: one token, or two with a comma between, of which the first is sent and both are accepted. */
export function readInternalTokens(reader: SettingsReader): InternalTokens {
  const [internalToken = "", acceptedToken] = reader.secrets("INTERNAL_TOKEN", internalTokenLengthMin, 2);
  return { internalToken, acceptedToken };
}

/** Reads DATABASE_POOLER: whether a pooler in transaction mode stands between the services and PostgreSQL. */
export function readPooler(reader: SettingsReader): boolean {
  const pooler = reader.optional("DATABASE_POOLER") ?? "none";
  if (pooler !== "none" && pooler !== "transaction") reader.problem("DATABASE_POOLER must be none or transaction");
  return pooler === "transaction";
}

/** Runs a service until its process is stopped. */
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
      hasPooler: readPooler(reader),
      nats: readNatsSettings(reader),
      identityUrls: reader.urls("IDENTITY_URL", ["http:"], "http://127.0.0.1:8101"),
      shutdownDelayMs: readShutdownDelayMs(reader),
      own: definition.read(reader),
    }));
    const { host, internalToken, acceptedToken } = settings;
    // Owned first, so closed last: spans of the stop are sent too.
    owner.own(await startTracing(settings.tracing, `daybook-${name}`, log));
    const signer = createSigner(internalToken, acceptedToken);
    const credentials = [internalToken, ...(acceptedToken === undefined ? [] : [acceptedToken])];
    const registry = createRegistry();
    let ready: () => Promise<void> = () => Promise.reject(new Error("still starting"));
    owner.own(await serveInternal({ host, port: settings.internalPort, registry, checkReady: () => ready() }));

    const pools = openServiceDatabase({
      url: settings.databaseUrl,
      name,
      connections: divideConnections(settings.connectionsMax),
      hasPooler: settings.hasPooler,
      log,
    });
    owner.defer(() => pools.end());
    const { database, reads } = pools;
    const bus = owner.own(openNatsBus({ ...settings.nats, signer, name, log, registry }));
    const context: ServiceContext = { database, reads, bus, clock: systemClock, log, registry };
    const service = owner.own(
      definition.create(context, {
        settings: settings.own,
        connectTo: (urls) => http2Transport(urls, internalToken),
        openSignals: () => owner.own(connectNatsSignals({ ...settings.nats, signer, name, log, registry })),
      }),
    );
    await startService(service, log, stopping, () => pools.check());
    const { findClient = askIdentity(http2Transport(settings.identityUrls, internalToken)) } = service;
    const routes = serviceRoutes(name, service, bus);
    owner.own(await serveRpc({ routes, credentials, findClient, host, port: settings.port, log, registry }));
    ready = () => service.checkReady();
    // Owned last, so closed first: load balancers turn away before connections end.
    owner.defer(async () => {
      ready = () => Promise.reject(new Error("stopping"));
      await sleep(settings.shutdownDelayMs);
    });
    log.info({ version, host, port: settings.port }, "ready");
  });
}
