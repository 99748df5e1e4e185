/** How the commands reach the services. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ConfigError, readSettings } from "#shared/config.ts";
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
    token: reader.optional("INTERNAL_TOKEN"),
    urls: readServiceUrls(reader),
    dataDir: resolve(reader.text("DATA_DIR", ".daybook")),
  }));
  if (token !== undefined) return connectServices(urls, token);
  const { services_url: url, internal_token: internalToken } = await readConnection(dataDir);
  return connectServices({ identity: url, profiles: url, events: url, metrics: url }, internalToken);
}

async function readConnection(dataDir: string): Promise<Connection> {
  try {
    return JSON.parse(await readFile(join(dataDir, "connection.json"), "utf8")) as Connection;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new ConfigError([`no Daybook runs on DATA_DIR ${dataDir}; begin one with npm start, or set INTERNAL_TOKEN`]);
  }
}
