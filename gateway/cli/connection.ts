/** How commands reach the services. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ConfigError, readSettings } from "#shared/process/config.ts";
import { readInternalTokens } from "#shared/process/service-process.ts";
import type { Transports } from "../clients.ts";
import { connectServices, readServiceUrls } from "../config.ts";

/** The file that a Daybook in one process writes while it runs. */
interface Connection {
  services_url: string;
  internal_token: string;
}

/**
 * Connects to the services of a mesh if INTERNAL_TOKEN is set, otherwise to the Daybook that runs on DATA_DIR. A set
 * DATA_DIR comes first: replicas of a Daybook in one process have both.
 * @throws ConfigError when none runs there
 */
export async function connect(env: NodeJS.ProcessEnv): Promise<Transports> {
  const { token, urls, dataDir } = readSettings(env, (reader) => ({
    token: reader.optional("INTERNAL_TOKEN") && readInternalTokens(reader).internalToken,
    urls: readServiceUrls(reader),
    dataDir: resolve(reader.text("DATA_DIR", ".daybook")),
  }));
  if (token !== undefined && !env.DATA_DIR) return connectServices(urls, token);
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
    // Reported below.
  }
  throw new ConfigError([`${file} is not what a running Daybook writes; start it anew`]);
}
