/** Runs a gateway as a process, over the services of a Daybook in this process. */
import type { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { createRegistry, serveRpc } from "#shared/rpc/server.ts";
import { createApi } from "./api.ts";
import { singleProcessToken, type SingleProcess } from "./daybook.ts";
import { eventually, freePort, startNode, type RunningProcess } from "./processes.ts";

export interface GatewayProcess extends RunningProcess {
  baseUrl: string;
  /** Address of probes and metrics. */
  internalUrl: string;
}

/** Serves the RPCs of a Daybook's services. @returns their address. */
export async function serveServices({ routes }: SingleProcess, owner: Owner): Promise<string> {
  const log = createLog("test", "silent");
  const rpc = {
    routes,
    credentials: [singleProcessToken],
    host: "127.0.0.1",
    port: 0,
    log,
    registry: createRegistry(),
  };
  return owner.own(await serveRpc(rpc)).address;
}

/** Starts a gateway process; `owner` closes it. */
export async function startGateway(
  servicesUrl: string,
  owner: Owner,
  env: Record<string, string> = {},
): Promise<GatewayProcess> {
  const [port, internalPort] = [await freePort(), await freePort()];
  const process = owner.own(
    startNode("gateway/main.ts", {
      HOST: "127.0.0.1",
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      INTERNAL_TOKEN: singleProcessToken,
      IDENTITY_URL: servicesUrl,
      PROFILE_URL: servicesUrl,
      EVENT_URL: servicesUrl,
      METRIC_URL: servicesUrl,
      LOG_LEVEL: "warn",
      ...env,
    }),
  );
  const baseUrl = `http://127.0.0.1:${port}`;
  await eventually(async () => ((await createApi(baseUrl).get("/health/live")).status === 200 ? true : undefined), {
    explain: process.output,
    timeoutMs: 60_000,
  });
  return { ...process, baseUrl, internalUrl: `http://127.0.0.1:${internalPort}` };
}
