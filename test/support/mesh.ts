/** The mesh: five processes over one PostgreSQL and one NATS, calling each other over HTTP/2. */
import type { Owner } from "#shared/lifecycle.ts";
import { eventually, freePort, startNode, type RunningProcess } from "./processes.ts";

/** Where the processes of a mesh are. */
export interface MeshAddresses {
  gatewayUrl: string;
  /** RPC, over HTTP/2. */
  identityUrl: string;
  profileUrl: string;
  eventUrl: string;
  metricUrl: string;
  /** Probes and Prometheus of the event service, over HTTP/1.1. */
  eventInternalUrl: string;
  /** The same of all five. */
  internalUrls: string[];
  internalToken: string;
  databaseUrl: string;
}

/** A mesh whose processes can be killed. */
export interface KillableMesh {
  addresses: MeshAddresses;
  /** Kills a process with SIGKILL, starts it again in its place, and waits until it can do its part. */
  restart(name: ProcessName): Promise<void>;
  /** Where the second gateway is. */
  secondGatewayUrl: string;
}

const names = ["identity", "profile", "event", "metric", "gateway"] as const;
/** A process of a mesh; the second gateway is there if it was asked for. */
export type ProcessName = (typeof names)[number] | "gateway2";

/** What a mesh is started on. */
interface MeshServers {
  databaseUrl: string;
  natsUrl: string;
  env?: Record<string, string>;
}

/** Starts a mesh; `owner` is given the processes. */
export async function startMesh(servers: MeshServers, owner: Owner): Promise<MeshAddresses> {
  return (await startKillableMesh(servers, owner)).addresses;
}

/** The same, to be killed; with a second gateway if that is asked for. */
export async function startKillableMesh(
  { databaseUrl, natsUrl, env = {} }: MeshServers,
  owner: Owner,
  gateways: 1 | 2 = 1,
): Promise<KillableMesh> {
  const internalToken = "a token for the mesh of the tests only";
  const ports = new Map<string, { port: number; internal: number }>();
  const wanted: ProcessName[] = gateways === 2 ? [...names, "gateway2"] : [...names];
  for (const name of wanted) ports.set(name, { port: await freePort(), internal: await freePort() });
  const url = (name: ProcessName): string => `http://127.0.0.1:${ports.get(name)?.port}`;
  const common = {
    HOST: "127.0.0.1",
    INTERNAL_TOKEN: internalToken,
    DATABASE_URL: databaseUrl,
    NATS_URL: natsUrl,
    LOG_LEVEL: "warn",
    IDENTITY_URL: url("identity"),
    PROFILE_URL: url("profile"),
    EVENT_URL: url("event"),
    METRIC_URL: url("metric"),
    ...env,
  };
  // All at once, as an orchestrator would: each waits for what it needs.
  const start = (name: ProcessName): RunningProcess => {
    const { port = 0, internal = 0 } = ports.get(name) ?? {};
    const file = name.startsWith("gateway") ? "gateway/main.ts" : `services/${name}/main.ts`;
    return owner.own(startNode(file, { ...common, PORT: String(port), INTERNAL_PORT: String(internal) }));
  };
  const processes = new Map(wanted.map((name) => [name, start(name)]));
  await eventually(async () => ((await fetch(`${url("gateway")}/health/ready`)).ok ? true : undefined), {
    explain: () =>
      `the mesh is not ready\n${[...processes].map(([name, { output }]) => `${name}: ${output()}`).join("\n")}`,
  });
  const addresses = {
    gatewayUrl: url("gateway"),
    identityUrl: url("identity"),
    profileUrl: url("profile"),
    eventUrl: url("event"),
    metricUrl: url("metric"),
    eventInternalUrl: `http://127.0.0.1:${ports.get("event")?.internal}`,
    internalUrls: names.map((name) => `http://127.0.0.1:${ports.get(name)?.internal}`),
    internalToken,
    databaseUrl,
  };
  return {
    addresses,
    secondGatewayUrl: url("gateway2"),
    async restart(name) {
      const process = processes.get(name);
      process?.child.kill("SIGKILL");
      await process?.ended;
      processes.set(name, start(name));
      // A gateway is ready when all others are, and some of them may be down for reasons of their own.
      const probe = name.startsWith("gateway") ? "live" : "ready";
      const ready = `http://127.0.0.1:${ports.get(name)?.internal}/health/${probe}`;
      await eventually(async () => ((await fetch(ready)).ok ? true : undefined), {
        explain: () => `${name} is not ready`,
      });
    },
  };
}
