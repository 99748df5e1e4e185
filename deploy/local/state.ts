/** Files of a local installation beside its database: secrets, and the lock of the folder. */
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Secrets of an installation, created at its first start. */
export interface LocalSecrets {
  databasePassword: string;
  internalToken: string;
  /** Keys of the demo properties, printed at every start. */
  liveKey: string;
  testKey: string;
}

/**
 * Reads the secrets of a folder, or stores new ones, readable only by the owner.
 * @param fresh creates new ones.
 */
export async function readSecrets(dataDir: string, fresh: () => LocalSecrets): Promise<LocalSecrets> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, "secrets.json");
  try {
    return JSON.parse(await readFile(file, "utf8")) as LocalSecrets;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const secrets = fresh();
  await writeFile(file, `${JSON.stringify(secrets, undefined, 2)}\n`, { mode: 0o600 });
  return secrets;
}

/** A random secret of 256 bits. */
export function newInternalSecret(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Writes how operator commands reach the services, readable only by the owner.
 * @returns a function that deletes the file.
 */
export async function writeConnection(
  dataDir: string,
  connection: { services_url: string; internal_token: string; public_url: string },
): Promise<() => Promise<void>> {
  const file = join(dataDir, "connection.json");
  await rm(file, { force: true });
  await writeFile(file, `${JSON.stringify(connection)}\n`, { mode: 0o600 });
  return () => rm(file, { force: true });
}

/** The Daybook that runs on a folder, with its key for tests; undefined if none does. */
export async function readRunning(dataDir: string): Promise<{ address: string; testKey: string } | undefined> {
  try {
    const read = async (name: string): Promise<unknown> => JSON.parse(await readFile(join(dataDir, name), "utf8"));
    const { public_url: address } = (await read("connection.json")) as { public_url?: unknown };
    const { testKey } = (await read("secrets.json")) as LocalSecrets;
    return typeof address === "string" ? { address, testKey } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Locks a data folder for this process.
 * @returns a function that releases it.
 * @throws Error if another process holds it.
 */
export async function claimFolder(dataDir: string): Promise<() => Promise<void>> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, "daybook.pid");
  for (;;) {
    try {
      await writeFile(file, `${process.pid}\n`, { flag: "wx", mode: 0o600 });
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const pid = Number(await readFile(file, "utf8").catch(() => ""));
    if (await isDaybook(pid)) throw new Error(`${dataDir} is in use by another Daybook (process ${pid}).`);
    // Left over by a killed process.
    await rm(file, { force: true });
  }
}

async function isDaybook(pid: number): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid || !isAlive(pid)) return false;
  // After a reboot the pid may belong to another process.
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => undefined);
  return command === undefined || command.includes("deploy/local/main.ts");
}

/** Whether a process with this pid runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
