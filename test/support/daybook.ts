/** Daybook for tests: over HTTP, with new properties and keys, as a single process or a mesh. */
import { createClient, type Transport } from "@connectrpc/connect";
import { describe, inject } from "vitest";
import { IdentityService, Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import type { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { createSigner } from "#shared/bus/nats/signature.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { http2Transport } from "#shared/rpc/transport.ts";
import type { Routes } from "#shared/process/service.ts";
import type { DaybookOptions } from "../../deploy/local/daybook.ts";
import { createClients, type Clients } from "../../gateway/clients.ts";
import { scopes as allScopes } from "../../services/identity/domain/scopes.ts";
import { createDatabase } from "./database.ts";
import { createApi, type Api } from "./api.ts";

/** Addresses of a Daybook in other processes. */
export interface DaybookAddresses {
  gatewayUrl: string;
  /** RPC over HTTP/2. A single process has one address for all five. */
  identityUrl: string;
  profileUrl: string;
  eventUrl: string;
  metricUrl: string;
  webhookUrl: string;
  internalToken: string;
  databaseUrl: string;
}

export interface TestDaybook {
  baseUrl: string;
  databaseUrl: string;
  /** Calls the services directly. */
  clients: Clients;
  /** Creates a property and a client with a key of it, with all scopes by default. */
  newProperty(options?: {
    mode?: Mode;
    scopes?: readonly string[];
    /** Limits of the key, per minute. */
    rateLimits?: { ordinary?: number; backfill?: number };
  }): Promise<TestProperty>;
}

export interface TestProperty extends Api {
  propertyId: string;
  keyId: string;
  secret: string;
  /** A client with another key of the property. */
  withScopes(scopes: readonly string[]): Promise<Api>;
}

/** A Daybook in this process. */
export interface SingleProcess extends TestDaybook {
  /** All RPCs of its services. */
  routes: Routes;
}

/** The internal token of a single process. */
export const singleProcessToken = "a token for the single process of the tests";

/** Signs bus messages like a single process. */
export const testSigner = createSigner(singleProcessToken);

export const testCall = systemCall("test", 30_000);

/** Tests of a Daybook that all test files share. */
type Suite = (daybook: () => TestDaybook) => void;

/** Runs a suite against the single process. For what one process decides, which is the same in a mesh. */
export function describeOnce(name: string, suite: Suite): void {
  let daybook: TestDaybook | undefined;
  describe(`${name} (single process)`, () => {
    suite(() => (daybook ??= connectTo(inject("singleProcess"))));
  });
}

/** Runs a suite against the mesh of six. For what depends on the timing of messages. */
export function describeOnMesh(name: string, suite: Suite): void {
  let daybook: TestDaybook | undefined;
  describe(`${name} (mesh)`, () => {
    suite(() => (daybook ??= connectToMesh()));
  });
}

/** Runs a suite against both. */
export function describeEverywhere(name: string, suite: Suite): void {
  describeOnce(name, suite);
  describeOnMesh(name, suite);
}

/** Starts Daybook in this process, on a new database and a free port unless they are given. */
export async function startSingleProcess(
  owner: Owner,
  { port = 0, ...options }: Partial<DaybookOptions> & { port?: number } = {},
): Promise<SingleProcess> {
  // Loaded on demand, because all services load slowly and most suites need none.
  const { startDaybook } = await import("../../deploy/local/daybook.ts");
  const databaseUrl = options.databaseUrl ?? owner.own(await createDatabase(inject("databaseUrl"))).url;
  const { gateway, transports, routes } = await startDaybook(
    {
      databaseUrl,
      internalToken: singleProcessToken,
      bootstrapKeys: { live: `sk_live_${"a".repeat(40)}`, test: `sk_test_${"a".repeat(40)}` },
      limits: { ordinary: 1_000_000, backfill: 1_000_000 },
      event: { retentionMonths: undefined },
      webhook: { allowedNetworks: [] },
      log: createLog("test", "error"),
      registry: createRegistry(),
      ...options,
    },
    owner,
    new AbortController().signal,
  );
  const baseUrl = await gateway.listen({ host: "127.0.0.1", port });
  return { ...toTestDaybook(baseUrl, databaseUrl, transports.identity, createClients(transports)), routes };
}

/** The shared mesh. */
export function connectToMesh(): TestDaybook {
  return connectTo(inject("mesh"));
}

export function connectTo(addresses: DaybookAddresses): TestDaybook {
  const { gatewayUrl, databaseUrl, internalToken } = addresses;
  const transportTo = (url: string): Transport => http2Transport(url, internalToken);
  const identity = transportTo(addresses.identityUrl);
  const clients = createClients({
    identity,
    profiles: transportTo(addresses.profileUrl),
    events: transportTo(addresses.eventUrl),
    metrics: transportTo(addresses.metricUrl),
    webhooks: transportTo(addresses.webhookUrl),
  });
  return toTestDaybook(gatewayUrl, databaseUrl, identity, clients);
}

function toTestDaybook(baseUrl: string, databaseUrl: string, identity: Transport, clients: Clients): TestDaybook {
  const client = createClient(IdentityService, identity);
  const newKey = async (propertyId: string, scopes: readonly string[], rateLimits = {}) => {
    const request = { propertyId, name: "test", scopes: [...scopes], rateLimits };
    const { key, secret } = await client.createKey(request, testCall);
    return { keyId: key?.id ?? "", secret };
  };
  return {
    baseUrl,
    databaseUrl,
    clients,
    async newProperty({ mode = Mode.TEST, scopes = allScopes, rateLimits = {} } = {}) {
      const { property } = await client.createProperty({ name: "Test", mode }, testCall);
      const propertyId = property?.id ?? "";
      const { keyId, secret } = await newKey(propertyId, scopes, rateLimits);
      return {
        propertyId,
        keyId,
        secret,
        ...createApi(baseUrl, secret),
        withScopes: async (some) => createApi(baseUrl, (await newKey(propertyId, some)).secret),
      };
    },
  };
}
