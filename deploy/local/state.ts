/** What a local installation keeps beside its database: secrets, and the claim on the folder. */
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Secrets of one installation, made at its first start. */
export interface LocalSecrets {
  databasePassword: string;
  internalToken: string;
  /** Keys of the demo properties, so that every start can print a line that works. */
  liveKey: string;
  testKey: string;
}

/**
 * Reads the secrets of a folder, or keeps new ones there for its owner alone.
 * @param fresh makes new ones.
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

/** A new secret for use inside an installation. */
export function newInternalSecret(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Tells the operator's commands how the services of a running installation are reached, for its owner alone.
 * @returns what takes it back.
 */
export async function writeConnection(
  dataDir: string,
  connection: { services_url: string; internal_token: string },
): Promise<() => Promise<void>> {
  const file = join(dataDir, "connection.json");
  await rm(file, { force: true });
  await writeFile(file, `${JSON.stringify(connection)}\n`, { mode: 0o600 });
  return () => rm(file, { force: true });
}

/**
 * Claims a data folder for this process.
 * @returns what gives it back.
 * @throws Error when another process has it.
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
    // Left behind by a process that was killed.
    await rm(file, { force: true });
  }
}

async function isDaybook(pid: number): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid || !isAlive(pid)) return false;
  // After a restart of the machine the number may be anybody's.
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => undefined);
  return command === undefined || command.includes("deploy/local/main.ts");
}

/** Whether a process of this number runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
