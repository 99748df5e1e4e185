/** A podman with a storage of its own, so that a run finds nothing of another and leaves nothing. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const outputBytesMax = 64 * 1024 * 1024;
const timeoutMs = 240_000;
const programs = ["podman", "buildah", "runc", "mmdebstrap", "nats-server"];
const forwarding = "/proc/sys/net/ipv4/ip_forward";

export interface Podman {
  /** An empty folder that `close` removes. */
  folder: string;
  /** The name for the network of all containers. The names in it are those of Services. */
  network: string;
  /** Runs podman, and returns its output. */
  podman: (...words: string[]) => Promise<string>;
  buildah: (...words: string[]) => Promise<string>;
  /** The address of a pod, or of a container. */
  addressOf(name: string): Promise<string>;
  close(): Promise<void>;
}

/** @throws Error that says what this machine lacks. */
export async function openPodman(): Promise<Podman> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) throw new Error("test:cluster needs Linux, and root");
  const missing = programs.filter((program) => spawnSync(program, ["--version"]).error);
  if (missing.length > 0) {
    throw new Error(`test:cluster needs ${missing.join(", ")}: scripts/cluster-tools.sh installs them on Debian`);
  }
  const folder = await mkdtemp(join(tmpdir(), "daybook-cluster-"));
  // A name of its own: all podmans of a machine share one folder of names by network, which a killed run leaves behind.
  const network = basename(folder);
  const configuration = {
    // Below the limits of the machine: raising them needs a capability that not every root has.
    "containers.conf": `
      [containers]
      default_ulimits = ["nofile=16384:16384", "nproc=32768:32768"]
      [engine]
      runtime = "runc"
      events_logger = "file"
      tmp_dir = "${folder}/tmp"
      static_dir = "${folder}/static"
      volume_path = "${folder}/volumes"
      [network]
      network_backend = "netavark"
      network_config_dir = "${folder}/networks"`,
    "storage.conf": `
      [storage]
      driver = "overlay"
      graphroot = "${folder}/storage"
      runroot = "${folder}/run"`,
  };
  for (const [name, text] of Object.entries(configuration)) await writeFile(join(folder, name), text);
  const env = {
    ...process.env,
    CONTAINERS_CONF: join(folder, "containers.conf"),
    CONTAINERS_STORAGE_CONF: join(folder, "storage.conf"),
  };
  const wasForwarding = await readFile(forwarding, "utf8");
  const call = async (program: string, words: string[]): Promise<string> => {
    try {
      const { stdout } = await run(program, words, { env, maxBuffer: outputBytesMax, timeout: timeoutMs });
      return stdout.trim();
    } catch (error) {
      const { stdout = "", stderr = "", message } = error as { stdout?: string; stderr?: string; message: string };
      throw new Error(`${program} ${words.join(" ")}: ${message}\n${stdout}\n${stderr}`, { cause: error });
    }
  };
  const podman = (...words: string[]): Promise<string> => call("podman", words);
  return {
    folder,
    network,
    podman,
    buildah: (...words) => call("buildah", words),
    async addressOf(name) {
      const infra = await podman("pod", "inspect", "--format", "{{.InfraContainerID}}", name).catch(() => name);
      return podman("inspect", "--format", `{{(index .NetworkSettings.Networks "${network}").IPAddress}}`, infra);
    },
    async close() {
      await podman("pod", "rm", "--all", "--force", "--time", "0");
      await podman("rm", "--all", "--force", "--time", "0");
      await podman("network", "rm", network);
      await podman("rmi", "--all", "--force");
      await writeFile(forwarding, wasForwarding);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
