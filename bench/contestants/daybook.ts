/** Runs Daybook as `npm start` does, on the bench's database. */
import { join, resolve } from "node:path";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { IdentityService, Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { decodeId, encodeId, type Uuid } from "#shared/values/ids.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { http2Transport } from "#shared/rpc/transport.ts";
import { hashSecret, newSecret } from "../../services/identity/domain/secret.ts";
import { countRows, type BenchDatabase } from "../support/database.ts";
import { emailsMax, makeEvents } from "../support/events.ts";
import { startServer, type ServerProcess } from "../support/server-process.ts";

/** A running Daybook. */
export interface Daybook extends ServerProcess {
  /** A key of the live property. */
  key: string;
  /** Where other gateways reach its services. */
  services: { url: string; internalToken: string };
  /** Creates another key of the live property, with this limit. */
  newKey: (requestsPerMinute: number) => Promise<string>;
  /** Creates another property with a key. */
  newProperty: () => Promise<{ key: string; propertyId: Uuid }>;
  /** The test property, with only what suites record in it. */
  other: { key: string; propertyId: Uuid };
  countEvents: () => Promise<number>;
  /** Waits until the outbox is empty and all consumers have no backlog. */
  settle: () => Promise<void>;
}

/** The data folder of Daybook. */
export function dataFolder(database: BenchDatabase): string {
  return join(database.folder, "daybook");
}

const file = resolve(import.meta.dirname, "../../deploy/local/main.ts");
const noLimitPerMinute = "1000000000";
const batchItemsMax = 1000;
const settleTimeoutMs = 30_000;
const settlePollMs = 10;

/** Starts Daybook with a profile for every person of the events. */
export async function startDaybook(database: BenchDatabase, signal: AbortSignal): Promise<Daybook> {
  const key = newSecret("live");
  const testKey = newSecret("test");
  const env = {
    DATABASE_URL: database.url,
    // The bus is within the process.
    NATS_URL: "",
    DATA_DIR: dataFolder(database),
    HOST: "127.0.0.1",
    PORT: "0",
    INTERNAL_PORT: "0",
    BOOTSTRAP_LIVE_KEY: key,
    BOOTSTRAP_TEST_KEY: testKey,
    RATE_LIMIT_PER_MINUTE: noLimitPerMinute,
    LOG_LEVEL: "warn",
  };
  const server = await startServer(file, env, signal);
  const services = await readServices(database);
  const propertyId = encodeId("prop", await findProperty(database, key));
  const identity = createClient(IdentityService, http2Transport(services.url, services.internalToken));
  const daybook: Daybook = {
    ...server,
    key,
    services,
    async newKey(ordinary) {
      const request = { propertyId, name: "bench", scopes: ["events:write"], rateLimits: { ordinary } };
      return (await identity.createKey(request, systemCall("bench"))).secret;
    },
    async newProperty() {
      const call = systemCall("bench");
      const { property } = await identity.createProperty({ name: "bench", mode: Mode.TEST }, call);
      const request = { propertyId: property?.id ?? "", name: "bench", scopes: ["events:write"] };
      const { secret } = await identity.createKey(request, call);
      return { key: secret, propertyId: decodeId("prop", request.propertyId, "property_id") };
    },
    other: { key: testKey, propertyId: await findProperty(database, testKey) },
    countEvents: () => countRows(database.pool, "event.events"),
    settle: () => drainOutboxes(database, signal),
  };
  try {
    await makeProfiles(daybook, signal);
    // Profile creations are recorded as events too.
    await daybook.settle();
    return daybook;
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** One event per person creates their profile. */
async function makeProfiles({ address, key }: Daybook, signal: AbortSignal): Promise<void> {
  const events = makeEvents(emailsMax);
  for (let from = 0; from < emailsMax; from += batchItemsMax) {
    const response = await fetch(`${address}/v1/events/batch`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ events: events.slice(from, from + batchItemsMax) }),
      signal,
    });
    const body = await response.text();
    if (!body.includes(`"failed":0`)) throw new Error(`profiles cannot be made: ${response.status} ${body}`);
  }
}

/** Reads the address file that Daybook writes for the command line. */
async function readServices(database: BenchDatabase): Promise<Daybook["services"]> {
  const text = await readFile(join(dataFolder(database), "connection.json"), "utf8");
  const { services_url: url, internal_token: internalToken } = JSON.parse(text) as Record<string, string>;
  return { url: url ?? "", internalToken: internalToken ?? "" };
}

async function findProperty({ pool }: BenchDatabase, key: string): Promise<Uuid> {
  const { rows } = await pool.query<{ property_id: Uuid }>(
    "SELECT property_id FROM identity.keys WHERE secret_hash = $1",
    [hashSecret(key)],
  );
  if (!rows[0]) throw new Error("there is no such key");
  return rows[0].property_id;
}

async function drainOutboxes({ pool }: BenchDatabase, signal: AbortSignal): Promise<void> {
  const deadlineMs = performance.now() + settleTimeoutMs;
  const countMessages = async (): Promise<number> =>
    (await countRows(pool, "profile.outbox")) + (await countRows(pool, "event.outbox"));
  while ((await countMessages()) > 0) {
    if (performance.now() > deadlineMs) throw new Error("the outboxes do not become empty");
    await sleep(settlePollMs, undefined, { signal });
  }
}
