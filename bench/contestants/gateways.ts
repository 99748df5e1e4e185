/** Runs gateways as processes, over the services of a running Daybook. */
import type { Owner } from "#shared/process/lifecycle.ts";
import { eventually, freePort, startNode } from "../../test/support/processes.ts";
import type { Daybook } from "./daybook.ts";

export interface Gateways {
  addresses: string[];
  /** Of all gateways together. */
  cpuSeconds: () => Promise<number>;
  residentBytes: () => Promise<number>;
}

/** Starts gateways; `owner` closes their processes. */
export async function startGateways({ services }: Daybook, count: number, owner: Owner): Promise<Gateways> {
  const started = await Promise.all(
    Array.from({ length: count }, async () => {
      const [port, internalPort] = [await freePort(), await freePort()];
      const process = owner.own(
        startNode("gateway/main.ts", {
          HOST: "127.0.0.1",
          PORT: String(port),
          INTERNAL_PORT: String(internalPort),
          INTERNAL_TOKEN: services.internalToken,
          IDENTITY_URL: services.url,
          PROFILE_URL: services.url,
          EVENT_URL: services.url,
          METRIC_URL: services.url,
          RATE_LIMIT_PER_MINUTE: "1000000000",
          LOG_LEVEL: "warn",
        }),
      );
      const address = `http://127.0.0.1:${port}`;
      // Liveness, because the services' port for the command line does not report readiness.
      await eventually(async () => ((await fetch(`${address}/health/live`)).ok ? true : undefined), {
        explain: process.output,
      });
      return { address, metrics: `http://127.0.0.1:${internalPort}/metrics` };
    }),
  );
  const sumOf = async (pattern: RegExp): Promise<number> => {
    const texts = await Promise.all(started.map(async ({ metrics }) => (await fetch(metrics)).text()));
    return texts.map((text) => Number(pattern.exec(text)?.[1])).reduce((sum, value) => sum + value, 0);
  };
  return {
    addresses: started.map(({ address }) => address),
    cpuSeconds: () => sumOf(/^process_cpu_seconds_total (\S+)/m),
    residentBytes: () => sumOf(/^process_resident_memory_bytes (\S+)/m),
  };
}
