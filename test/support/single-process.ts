/** Starts Daybook as `npm start` does, on a database of the tests. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Owner } from "#shared/process/lifecycle.ts";
import type { DaybookAddresses } from "./daybook.ts";
import { eventually, startNode } from "./processes.ts";

const startTimeoutMs = 90_000;

/**
 * Starts the process; `owner` closes it.
 * @param folder for its files; it must not be in use.
 * @param env more settings.
 */
export async function startOneProcess(
  databaseUrl: string,
  folder: string,
  owner: Owner,
  env: Record<string, string> = {},
): Promise<DaybookAddresses> {
  const settings = { DATABASE_URL: databaseUrl, DATA_DIR: folder, PORT: "0", INTERNAL_PORT: "0", ...env };
  const process = owner.own(startNode("deploy/local/main.ts", settings));
  const gatewayUrl = await eventually(
    () => {
      if (process.child.exitCode !== null) throw new Error(process.output());
      return /ready at (\S+)/.exec(process.output())?.[1];
    },
    { timeoutMs: startTimeoutMs, explain: process.output },
  );
  const { services_url: url, internal_token: internalToken } = JSON.parse(
    await readFile(join(folder, "connection.json"), "utf8"),
  ) as { services_url: string; internal_token: string };
  return {
    gatewayUrl,
    identityUrl: url,
    profileUrl: url,
    eventUrl: url,
    metricUrl: url,
    webhookUrl: url,
    internalToken,
    databaseUrl,
  };
}
