/** How the commands reach the services. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ConfigError, internalTokenLengthMin, readSettings } from "#shared/process/config.ts";
import type { Transports } from "../clients.ts";
import { connectServices, readServiceUrls } from "../config.ts";

/** Written by a Daybook in one process while it runs. */
interface Connection {
  services_url: string;
  internal_token: string;
}

/**
 * Reaches the services of a mesh when INTERNAL_TOKEN is set, else of the Daybook that runs on DATA_DIR.
 * @throws ConfigError when there is none.
 */
export async function connect(env: NodeJS.ProcessEnv): Promise<Transports> {
  const { token, urls, dataDir } = readSettings(env, (reader) => ({
    token: env.INTERNAL_TOKEN === undefined ? undefined : reader.secret("INTERNAL_TOKEN", internalTokenLengthMin),
    urls: readServiceUrls(reader),
    dataDir: resolve(reader.text("DATA_DIR", ".daybook")),
  }));
  if (token !== undefined) return connectServices(urls, token);
  const { services_url: url, internal_token: internalToken } = await readConnection(dataDir);
  return connectServices({ identity: url, profiles: url, events: url, metrics: url }, internalToken);
}

async function readConnection(dataDir: string): Promise<Connection> {
  const file = join(dataDir, "connection.json");
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw new ConfigError([`no Daybook runs on DATA_DIR ${dataDir}; begin one with npm start, or set INTERNAL_TOKEN`]);
  });
  try {
    const { services_url: url, internal_token: token } = JSON.parse(text) as Partial<Connection>;
    if (typeof url === "string" && typeof token === "string") return { services_url: url, internal_token: token };
  } catch {
    // Said below.
  }
  throw new ConfigError([`${file} is not what a running Daybook writes; start it anew`]);
}
