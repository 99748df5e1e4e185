/** Runs a mesh: six processes over one PostgreSQL and one NATS, with RPC over HTTP/2. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Owner } from "#shared/process/lifecycle.ts";
import type { DaybookAddresses } from "./daybook.ts";
import { eventually, freePort, startNode, type RunningProcess } from "./processes.ts";
import { startProxy, type Proxy } from "./proxy.ts";

/** Addresses of the processes of a mesh. */
export interface MeshAddresses extends DaybookAddresses {
  /** Probes and metrics of the event service, over HTTP/1.1. */
  eventInternalUrl: string;
  /** The same for all six. */
  internalUrls: string[];
}

/** A mesh whose processes can be killed. */
export interface KillableMesh {
  addresses: MeshAddresses;
  /** Kills a process with SIGKILL, starts it again, and waits until it is ready. */
  restart(name: ProcessName): Promise<void>;
  /** Kills a process with SIGKILL, and waits for its end. */
  kill(name: ProcessName): Promise<void>;
  secondGatewayUrl: string;
  /** Probes and metrics of a process. */
  internalUrl(name: ProcessName): string;
  /** What the processes that run have logged. */
  output(): string;
}

/** A mesh whose processes can be replaced under load. A proxy in front of each forwards to its newest copy. */
export interface RollingMesh {
  addresses: MeshAddresses;
  /** The newest copy of a process. */
  copyOf(name: CoreName): RunningProcess;
  /**
   * Starts a new copy of a process, sends new connections to it, then stops the old copy.
   * @param env settings of the new copy, which differ from those of the mesh.
   * @throws Error if a copy does not become ready, ends early, or ends with an error.
   */
  roll(name: CoreName, env?: Record<string, string>): Promise<void>;
}

// Many processes may start at once, on a busy machine.
const startTimeoutMs = 90_000;

export const serviceNames = ["identity", "profile", "event", "metric", "webhook"] as const;

export const names = [...serviceNames, "gateway"] as const;
type CoreName = (typeof names)[number];
/** A second copy of a process. */
export type Copy = "gateway2" | "event2";
export type ProcessName = (typeof names)[number] | Copy;

interface MeshServers {
  databaseUrl: string;
  natsUrl: string;
  env?: Record<string, string>;
}

/** Starts a mesh; `owner` closes its processes. */
export async function startMesh(servers: MeshServers, owner: Owner): Promise<MeshAddresses> {
  return (await startKillableMesh(servers, owner)).addresses;
}

/** Starts a mesh to be killed, with second copies of some processes. */
export async function startKillableMesh(
  { databaseUrl, natsUrl, env = {} }: MeshServers,
  owner: Owner,
  copies: readonly Copy[] = [],
): Promise<KillableMesh> {
  const ports = new Map<string, { port: number; internal: number }>();
  const wanted: ProcessName[] = [...names, ...copies];
  for (const name of wanted) ports.set(name, { port: await freePort(), internal: await freePort() });
  const url = (name: ProcessName): string => `http://127.0.0.1:${ports.get(name)?.port}`;
  const eventUrls = wanted.filter((name) => name.startsWith("event")).map(url);
  const common = settingsOf({ databaseUrl, natsUrl, env: { EVENT_URL: eventUrls.join(","), ...env } }, url);
  // All at once, like an orchestrator: each waits for its dependencies.
  const start = (name: ProcessName): RunningProcess => {
    const { port = 0, internal = 0 } = ports.get(name) ?? {};
    const program = name.replace("2", "");
    const file = program === "gateway" ? "gateway/main.ts" : `services/${program}/main.ts`;
    return owner.own(startNode(file, { ...common, PORT: String(port), INTERNAL_PORT: String(internal) }));
  };
  const processes = new Map(wanted.map((name) => [name, start(name)]));
  const internalUrl = (name: ProcessName): string => `http://127.0.0.1:${ports.get(name)?.internal}`;
  for (const [name, { output }] of processes) await untilReady(internalUrl(name), () => `${name}: ${output()}`);
  const kill = async (name: ProcessName): Promise<void> => {
    const process = processes.get(name);
    process?.child.kill("SIGKILL");
    await process?.ended;
  };
  return {
    addresses: addressesOf(url, internalUrl, databaseUrl),
    secondGatewayUrl: url("gateway2"),
    internalUrl,
    output: () => [...processes.values()].map(({ output }) => output()).join("\n"),
    kill,
    async restart(name) {
      await kill(name);
      processes.set(name, start(name));
      // A gateway is ready only if identity is, which may be down on purpose.
      const probe = name.startsWith("gateway") ? "live" : "ready";
      await untilReady(internalUrl(name), () => processes.get(name)?.output() ?? "", probe);
    },
  };
}

/** Waits until a probe of a process answers 200. */
async function untilReady(internalUrl: string, output: () => string, probe: "live" | "ready" = "ready"): Promise<void> {
  await eventually(async () => ((await fetch(`${internalUrl}/health/${probe}`)).ok ? true : undefined), {
    timeoutMs: startTimeoutMs,
    explain: () => `a process is not ${probe}: ${output()}`,
  });
}

const internalToken = "a token for the mesh of the tests only";

type UrlOf = (name: ProcessName) => string;

function settingsOf({ databaseUrl, natsUrl, env = {} }: MeshServers, url: UrlOf): Record<string, string> {
  return {
    HOST: "127.0.0.1",
    INTERNAL_TOKEN: internalToken,
    DATABASE_URL: databaseUrl,
    NATS_URL: natsUrl,
    LOG_LEVEL: "warn",
    IDENTITY_URL: url("identity"),
    PROFILE_URL: url("profile"),
    EVENT_URL: url("event"),
    METRIC_URL: url("metric"),
    WEBHOOK_URL: url("webhook"),
    ...env,
  };
}

function addressesOf(url: UrlOf, internalUrl: UrlOf, databaseUrl: string): MeshAddresses {
  return {
    gatewayUrl: url("gateway"),
    identityUrl: url("identity"),
    profileUrl: url("profile"),
    eventUrl: url("event"),
    metricUrl: url("metric"),
    webhookUrl: url("webhook"),
    eventInternalUrl: internalUrl("event"),
    internalUrls: names.map(internalUrl),
    internalToken,
    databaseUrl,
  };
}

// Delay between the switch of the proxy and the stop of the old copy.
const switchDelayMs = 50;

/** Starts a mesh whose processes can be replaced; `owner` closes them. */
export async function startRollingMesh(servers: MeshServers, owner: Owner): Promise<RollingMesh> {
  const proxies = new Map<string, Proxy>();
  for (const name of names) proxies.set(name, owner.own(await startProxy()));
  const url: UrlOf = (name) => `http://127.0.0.1:${proxies.get(name)?.port}`;
  const settings = settingsOf(servers, url);
  const copies = new Map<CoreName, RunningProcess>();
  const internalUrls = new Map<ProcessName, string>();
  const copyOf = (name: CoreName): RunningProcess => {
    const copy = copies.get(name);
    if (!copy) throw new Error(`${name} was never started`);
    return copy;
  };

  async function start(name: CoreName, env: Record<string, string> = {}): Promise<void> {
    const [port, internal] = [await freePort(), await freePort()];
    const file = name === "gateway" ? "gateway/main.ts" : `services/${name}/main.ts`;
    const copy = startNode(file, { ...settings, PORT: String(port), INTERNAL_PORT: String(internal), ...env });
    owner.own(copy);
    const internalUrl = `http://127.0.0.1:${internal}`;
    await untilReady(internalUrl, copy.output);
    proxies.get(name)?.sendTo(port);
    internalUrls.set(name, internalUrl);
    copies.set(name, copy);
  }

  await Promise.all(names.map((name) => start(name)));
  return {
    addresses: addressesOf(url, (name) => internalUrls.get(name) ?? "", servers.databaseUrl),
    copyOf,
    async roll(name, env) {
      const old = copyOf(name);
      await start(name, env);
      await sleep(switchDelayMs);
      if (old.child.exitCode !== null || old.child.signalCode !== null) {
        throw new Error(`a copy of ${name} had ended before it was told to: ${old.output()}`);
      }
      old.child.kill("SIGTERM");
      const { code, signal } = await old.ended;
      if (code !== 0) throw new Error(`a copy of ${name} ended with ${code ?? signal}: ${old.output()}`);
    },
  };
}
