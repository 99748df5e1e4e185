/** A gateway of its own process, over the services of a Daybook in this one. */
import type { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { createRegistry, serveRpc } from "#shared/rpc/server.ts";
import { createApi } from "./api.ts";
import { singleProcessToken, type SingleProcess } from "./daybook.ts";
import { eventually, freePort, startNode, type RunningProcess } from "./processes.ts";

/** See above. */
export interface GatewayProcess extends RunningProcess {
  baseUrl: string;
  /** Probes and Prometheus. */
  internalUrl: string;
}

/** Serves what a Daybook's services answer to. @returns where. */
export async function serveServices({ routes }: SingleProcess, owner: Owner): Promise<string> {
  const log = createLog("test", "silent");
  const rpc = { routes, credential: singleProcessToken, host: "127.0.0.1", port: 0, log, registry: createRegistry() };
  return owner.own(await serveRpc(rpc)).address;
}

/** Starts a gateway; `owner` is given the process. */
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
