/** How commands reach the services. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ConfigError, readSettings } from "#shared/process/config.ts";
import { readInternalTokens } from "#shared/process/service-process.ts";
import type { Transports } from "../clients.ts";
import { connectServices, readPublicUrl, readServiceUrls } from "../config.ts";

/** The file that a Daybook in one process writes while it runs. */
interface Connection {
  services_url: string;
  internal_token: string;
  /** The address of its gateway. */
  public_url?: string;
}

/** What a command needs of a Daybook. */
export interface Reached {
  transports: Transports;
  /** The address that people open, without a trailing slash; undefined where nothing says it. */
  publicUrl: string | undefined;
}

/**
 * Connects to the services of a mesh if INTERNAL_TOKEN is set, otherwise to the Daybook that runs on DATA_DIR. A set
 * DATA_DIR comes first: replicas of a Daybook in one process have both. PUBLIC_URL says the address for people.
 * @throws ConfigError when none runs there
 */
export async function connect(env: NodeJS.ProcessEnv): Promise<Reached> {
  const { token, urls, dataDir, publicUrl } = readSettings(env, (reader) => ({
    token: reader.optional("INTERNAL_TOKEN") && readInternalTokens(reader).internalToken,
    urls: readServiceUrls(reader),
    dataDir: resolve(reader.text("DATA_DIR", ".daybook")),
    publicUrl: readPublicUrl(reader),
  }));
  if (token !== undefined && !env.DATA_DIR) return { transports: connectServices(urls, token), publicUrl };
  const { services_url: url, internal_token: internalToken, public_url: address } = await readConnection(dataDir);
  const transports = connectServices(url, internalToken);
  return { transports, publicUrl: publicUrl ?? address };
}

async function readConnection(dataDir: string): Promise<Connection> {
  const file = join(dataDir, "connection.json");
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw new ConfigError([`no Daybook runs on DATA_DIR ${dataDir}; begin one with npm start, or set INTERNAL_TOKEN`]);
  });
  try {
    const connection = JSON.parse(text) as Partial<Connection>;
    const { services_url: url, internal_token: token } = connection;
    if (typeof url === "string" && typeof token === "string") {
      return { ...connection, services_url: url, internal_token: token };
    }
  } catch {
    // Reported below.
  }
  throw new ConfigError([`${file} is not what a running Daybook writes; start it anew`]);
}
