/**
 * `npm start`: Daybook in one process, or in several that share its port, on an embedded PostgreSQL unless DATABASE_URL
 * is set.
 */
import { join } from "node:path";
import { readSettings } from "#shared/process/config.ts";
import { runProcess, type Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { readInternalTokens } from "#shared/process/service-process.ts";
import { createRegistry, serveInternal } from "#shared/rpc/server.ts";
import { http2Transport } from "#shared/rpc/transport.ts";
import { startTracing } from "#shared/tracing/start.ts";
import { newSecret } from "../../services/identity/domain/secret.ts";
import { serverConnections } from "./connections.ts";
import { startPostgres } from "./postgres.ts";
import type { Addresses, Installation } from "./process.ts";
import { readLocalSettings, type LocalSettings } from "./settings.ts";
import { claimFolder, newInternalSecret, readSecrets, writeConnection } from "./state.ts";
import { welcome } from "./welcome.ts";
import { createWorkers } from "./workers.ts";

const log = createLog("daybook", process.env.LOG_LEVEL ?? "warn");

async function start(owner: Owner, stopping: AbortSignal): Promise<void> {
  const settings = readLocalSettings(process.env);
  const { dataDir } = settings;
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
    const folder = join(dataDir, "postgres");
    const own = { max_connections: serverConnections(settings.workers) };
    databaseUrl = owner.own(await startPostgres(folder, secrets.databasePassword, own)).url;
  }
  const bootstrapKeys = { live: secrets.liveKey, test: secrets.testKey };
  const installation = { databaseUrl, internalToken, acceptedToken, bootstrapKeys };
  const serve = settings.workers === 1 ? serveAlone : serveByWorkers;
  const { address, servicesUrl } = await serve(settings, installation, owner, stopping);
  const publicUrl = settings.edge.publicUrl ?? address;
  const connection = { services_url: servicesUrl, internal_token: internalToken, public_url: publicUrl };
  owner.defer(await writeConnection(dataDir, connection));
  const identity = http2Transport(servicesUrl, internalToken);
  process.stdout.write(await welcome({ address, publicUrl, identity, secrets, given: settings.bootstrapKeys }));
}

type Serve = (
  settings: LocalSettings,
  installation: Installation,
  owner: Owner,
  stopping: AbortSignal,
) => Promise<Addresses>;

const serveAlone: Serve = async (settings, installation, owner, stopping) => {
  // Loaded here, because a process that only watches over others needs none of it.
  const { serveDaybook } = await import("./process.ts");
  owner.own(await startTracing(settings.tracing, "daybook", log));
  const registry = createRegistry();
  // Owned before the gateway, so it closes after it and reports this process as not ready meanwhile.
  let ready: () => Promise<void> = () => Promise.reject(new Error("still starting"));
  const { host, port, internalPort } = settings;
  owner.own(await serveInternal({ host, port: internalPort, registry, checkReady: () => ready() }));
  const context = { log, registry };
  const served = await serveDaybook(settings, installation, { gateway: port, services: 0 }, context, owner, stopping);
  ready = served.checkReady;
  return served;
};

const serveByWorkers: Serve = async (settings, installation, owner, stopping) => {
  const { host, internalPort } = settings;
  const workers = createWorkers(settings, installation, log);
  const { registry, checkReady } = workers;
  owner.own(await serveInternal({ host, port: internalPort, registry, checkReady }));
  return owner.own(workers).start(stopping);
};

await runProcess(log, start);
