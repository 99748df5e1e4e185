/** One process of `npm start` that serves: the gateway on its port, and the RPCs of the services for operators. */
import { setFlagsFromString } from "node:v8";
import type { Registry } from "prom-client";
import type { Log } from "#shared/process/log.ts";
import type { Owner } from "#shared/process/lifecycle.ts";
import { serveRpc } from "#shared/rpc/server.ts";
import { startDaybook } from "./daybook.ts";
import type { LocalSettings } from "./settings.ts";

// V8 collects the old generation once it is this much larger than what was in use after the last time. By itself V8
// lets a heap of 95 MB grow to 330 MB under load: 440 to 550 MB resident in place of 360 MB, and no faster. It is read
// at each collection, so that it may be set while the process runs.
const heapGrowth = "--heap-growing-percent=50";

/** What the processes of one `npm start` share. */
export interface Installation {
  databaseUrl: string;
  internalToken: string;
  acceptedToken?: string | undefined;
  bootstrapKeys: { live: string; test: string };
}

/** Where a process serves. */
export interface Addresses {
  /** The public surface. */
  address: string;
  /** RPCs of the services, for this machine alone. */
  servicesUrl: string;
}

/**
 * Starts Daybook, and listens; `owner` gets all that must be closed.
 * @param ports of the gateway and of the RPCs; 0 takes any free one.
 */
export async function serveDaybook(
  settings: LocalSettings & { checksServer?: boolean },
  installation: Installation,
  ports: { gateway: number; services: number },
  { log, registry }: { log: Log; registry: Registry },
  owner: Owner,
  stopping: AbortSignal,
): Promise<Addresses & { checkReady: () => Promise<void> }> {
  setFlagsFromString(heapGrowth);
  const { host, workers, checksServer, hasPooler, nats, outboxBytesMax, limits } = settings;
  const { compat, edge, dashboard, oauth, profile, event, webhook } = settings;
  const { gateway, routes, findClient, checkReady } = await startDaybook(
    {
      ...installation,
      workers,
      checksServer,
      hasPooler,
      nats,
      outboxBytesMax,
      limits,
      compat,
      edge,
      dashboard,
      oauth,
      profile,
      event,
      webhook,
      log,
      registry,
    },
    owner,
    stopping,
  );
  const credentials = [installation.internalToken];
  const rpc = await serveRpc({
    routes,
    credentials,
    findClient,
    host: "127.0.0.1",
    port: ports.services,
    log,
    registry,
  });
  owner.own(rpc);
  const address = await gateway.listen({ host, port: ports.gateway });
  return { address, servicesUrl: rpc.address, checkReady };
}
