/** Which Daybook the demo fills, and with which key. */
import { resolve } from "node:path";
import { readSettings } from "#shared/process/config.ts";
import { modeOfKey } from "#shared/values/key-form.ts";
import { readRunning } from "../local/state.ts";
import { createClient, DemoError, good, type Client } from "./client.ts";

export interface Target {
  client: Client;
  /** Such as http://127.0.0.1:8080. */
  address: string;
  propertyId: string;
}

/**
 * Finds the Daybook at DAYBOOK_URL, or the one that runs on DATA_DIR.
 * @throws DemoError if there is none, or its key opens no test property
 */
export async function findTarget(env: NodeJS.ProcessEnv, stopping: AbortSignal): Promise<Target> {
  const { address, key } = await findKey(env);
  if (modeOfKey(key) === "live") {
    throw new DemoError("DAYBOOK_KEY is a key of real data. The demo takes a key of a test property: sk_test_…");
  }
  const client = createClient(address, key, stopping);
  const answer = await client.get("/v1/account", { patienceMs: 0 });
  if (answer.status === 401) {
    throw new DemoError(`${address} does not know the key. Set DAYBOOK_KEY to a key of one of its test properties.`);
  }
  const account = good(answer).body?.data as { property: { id: string; livemode: boolean } } | undefined;
  if (account?.property.livemode !== false) throw new DemoError(`${address} is no Daybook with a test property.`);
  return { client, address, propertyId: account.property.id };
}

async function findKey(env: NodeJS.ProcessEnv): Promise<{ address: string; key: string }> {
  const given = readSettings(env, (reader) => ({
    url: reader.optionalUrl("DAYBOOK_URL", ["http:", "https:"])?.replace(/\/+$/, ""),
    key: reader.optional("DAYBOOK_KEY"),
    dataDir: resolve(reader.text("DATA_DIR", ".daybook")),
  }));
  if (given.key !== undefined && modeOfKey(given.key) === undefined) {
    throw new DemoError("DAYBOOK_KEY is no key of Daybook. A key of a test property begins with sk_test_.");
  }
  if (given.url !== undefined) {
    if (given.key !== undefined) return { address: given.url, key: given.key };
    throw new DemoError("DAYBOOK_KEY is not set: the demo needs a key of a test property of DAYBOOK_URL.");
  }
  const running = await readRunning(given.dataDir);
  if (running) return { address: running.address, key: given.key ?? running.testKey };
  throw new DemoError(
    `No Daybook runs on DATA_DIR ${given.dataDir}. Begin one with npm start, or set DAYBOOK_URL and DAYBOOK_KEY.`,
  );
}
