/**
 * Keys and installations that end: every gateway refuses them at once where the bus is there, and when it forgets what
 * it remembers where it is not.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import type { Registry } from "prom-client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { AppStatus, RevokedReason } from "#proto/daybook/identity/v1/apps_pb.ts";
import { KeyEndingSchema } from "#proto/daybook/identity/v1/signals_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { connectNatsSignals } from "#shared/bus/nats/signals.ts";
import { createSigner } from "#shared/bus/nats/signature.ts";
import { createRegistry, serveRpc } from "#shared/rpc/server.ts";
import type { Signals } from "#shared/bus/signals.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { createGateway } from "../../gateway/app.ts";
import { createClients } from "../../gateway/clients.ts";
import { connectServices } from "../../gateway/config.ts";
import { askAgainIntervalMs } from "../../gateway/ends.ts";
import { createApi, type Api } from "../support/api.ts";
import { installApp, type TestInstallation } from "../support/apps.ts";
import {
  connectToMesh,
  singleProcessToken,
  startSingleProcess,
  testCall,
  testSigner,
  type SingleProcess,
  type TestProperty,
} from "../support/daybook.ts";
import { sendAsStranger, startNats, type NatsServer } from "../support/nats.ts";
import { eventually, freePort, startNode } from "../support/processes.ts";

const log = createLog("test", "silent");
// Far longer than any test: what is refused before that was not forgotten by its age.
const hourMs = 60 * 60 * 1000;

const statusOf = async (api: Pick<Api, "get">): Promise<number> => (await api.get("/v1/revisions")).status;

/** Waits until a gateway, or whoever else listens, has its connection. */
const connected = (registry: Registry): Promise<true> =>
  eventually(async () => {
    const found = await registry.getSingleMetric("daybook_signals_connected")?.get();
    return found?.values[0]?.value === 1 ? true : undefined;
  });

describe("two gateways, beside the process of the services", () => {
  const shared = new Owner();
  let owner: Owner;
  let nats: NatsServer;
  let folder: string;
  let services: SingleProcess;
  let rpcUrl: string;
  let rpcRegistry: Registry;
  /** Two that hear signals, and remember keys for longer than any test takes. */
  let both: ((secret: string) => Api)[];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "daybook-signals-"));
    shared.defer(() => rm(folder, { recursive: true, force: true }));
    nats = shared.own(await startNats(join(folder, "nats")));
    const registry = createRegistry();
    services = await startSingleProcess(shared, { nats: { servers: [nats.url] }, registry, log });
    await connected(registry);
    const routes = { routes: services.routes, credentials: [singleProcessToken], host: "127.0.0.1", port: 0 };
    rpcRegistry = createRegistry();
    rpcUrl = shared.own(await serveRpc({ ...routes, log, registry: rpcRegistry })).address;
    both = [await startGateway(hourMs, true, shared), await startGateway(hourMs, true, shared)];
  });
  afterAll(() => shared.close());
  beforeEach(() => {
    owner = new Owner();
  });
  afterEach(() => owner.close());

  /** A gateway that hears signals, unless it is given none; and clients of it. */
  async function startGateway(callerAgeMsMax: number, hears = true, owns = owner): Promise<(secret: string) => Api> {
    const registry = createRegistry();
    let signals: Signals | undefined;
    if (hears) {
      signals = owns.own(
        connectNatsSignals({ servers: [nats.url], signer: testSigner, name: "gateway", log, registry }),
      );
      await connected(registry);
    }
    const gateway = await createGateway({
      clients: createClients(connectServices(rpcUrl, singleProcessToken)),
      clock: { nowMicros: () => Date.now() * 1000 },
      log,
      registry,
      limits: { ordinary: 1_000_000, backfill: 1_000_000 },
      signals,
      callerAgeMsMax,
      secret: singleProcessToken,
    });
    owns.defer(() => gateway.close());
    const baseUrl = await gateway.listen({ host: "127.0.0.1", port: 0 });
    return (secret) => createApi(baseUrl, secret);
  }

  /** How often identity was asked for a key by gateways other than that of its own process. */
  async function countAsks(): Promise<number> {
    const found = await rpcRegistry.getSingleMetric("daybook_rpc_duration_seconds")?.get();
    const asks = (found?.values ?? []).filter(
      ({ labels, ...value }) =>
        labels.method === "AuthenticateKey" &&
        (value as { metricName?: string }).metricName === "daybook_rpc_duration_seconds_count",
    );
    return asks.reduce((sum, { value }) => sum + value, 0);
  }

  /** A key that both gateways have seen a moment ago. */
  async function usedKey(gateways: readonly ((secret: string) => Api)[]): Promise<{ key: TestProperty; used: Api[] }> {
    const key = await services.newProperty();
    const used = gateways.map((open) => open(key.secret));
    expect(await Promise.all(used.map(statusOf))).toEqual(used.map(() => 200));
    return { key, used };
  }

  /** Two access tokens of an installation, which gateways have seen a moment ago. */
  async function usedTokens(
    gateways: readonly ((secret: string) => Api)[],
  ): Promise<{ installation: TestInstallation; used: Api[] }> {
    const installation = await installApp(services, (await services.newProperty()).propertyId);
    const tokens = [await installation.newToken(), await installation.newToken()];
    const used = gateways.flatMap((open) => tokens.map(({ token }) => open(token)));
    expect(await Promise.all(used.map(statusOf))).toEqual(used.map(() => 200));
    return { installation, used };
  }

  const refused = (apis: readonly Api[]): Promise<true> =>
    eventually(async () =>
      (await Promise.all(apis.map(statusOf))).every((status) => status === 401) ? true : undefined,
    );

  test("refuse a key that was used a moment ago as soon as it is revoked, and no other", async () => {
    const gateways = both;
    const { key, used } = await usedKey(gateways);
    const { used: others } = await usedKey(gateways);
    await services.clients.identity.revokeKey({ propertyId: key.propertyId, keyId: key.keyId }, testCall);
    await refused(used);
    // The process of the services has a gateway too: it knew before the answer.
    expect(await statusOf(key)).toBe(401);
    expect(await Promise.all(others.map(statusOf))).toEqual([200, 200]);
  });

  const ends: readonly [name: string, end: (installation: TestInstallation) => Promise<unknown>][] = [
    ["ends", (installation) => installation.end()],
    [
      "is suspended with its app",
      ({ appId }) => services.clients.apps.updateApp({ appId, status: AppStatus.SUSPENDED }, testCall),
    ],
    [
      "is given back by its app",
      ({ grantId }) => services.clients.oauth.endGrant({ grantId, reason: RevokedReason.APP }, testCall),
    ],
    ["is consented to again", ({ propertyId, appId }) => installApp(services, propertyId, { appId })],
  ];

  test.each(ends)("refuse every token of an installation as soon as it %s, and no other", async (_name, end) => {
    const { installation, used } = await usedTokens(both);
    const { used: others } = await usedTokens(both);
    const { used: keys } = await usedKey(both);
    await end(installation);
    await refused(used);
    // It does not come back.
    expect(await Promise.all(used.map(statusOf))).toEqual(used.map(() => 401));
    expect(new Set(await Promise.all([...others, ...keys].map(statusOf)))).toEqual(new Set([200]));
  });

  test("take tokens of the new consent at once, also while they still hear of the old one", async () => {
    const { installation, used } = await usedTokens(both);
    const { propertyId, appId } = installation;
    for (let round = 0; round < 5; round++) {
      const { token } = await (await installApp(services, propertyId, { appId })).newToken();
      expect(await Promise.all(both.map((open) => statusOf(open(token))))).toEqual([200, 200]);
    }
    await refused(used);
  });

  test("refuse a key that was replaced once its overlap is over, and take the new one", async () => {
    const gateways = both;
    const { key, used } = await usedKey(gateways);
    const { propertyId, keyId } = key;
    const { secret } = await services.clients.identity.rotateKey({ propertyId, keyId, overlapSeconds: 2 }, testCall);
    await refused(used);
    expect(await Promise.all(gateways.map((open) => statusOf(open(secret))))).toEqual([200, 200]);
    // Replaced without any overlap.
    const { used: again, key: next } = await usedKey(gateways);
    const rotation = { propertyId: next.propertyId, keyId: next.keyId, overlapSeconds: 0 };
    await services.clients.identity.rotateKey(rotation, testCall);
    await refused(again);
  });

  test("refuse a key or an access token that expires, however long they remember it", async () => {
    const gateways = [...both.slice(0, 1), await startGateway(hourMs, false)];
    const { key } = await usedKey(gateways);
    const expiresAt = toTimestamp((Date.now() + 5_000) * 1000);
    const { secret } = await services.clients.identity.createKey(
      { propertyId: key.propertyId, name: "short", scopes: ["events:read"], expiresAt },
      testCall,
    );
    const installation = await installApp(services, key.propertyId);
    const { token } = await installation.newToken({ expiresAtMs: Date.now() + 5_000 });
    const short = gateways.flatMap((open) => [open(secret), open(token)]);
    expect(new Set(await Promise.all(short.map(statusOf)))).toEqual(new Set([200]));
    await refused(short);
  });

  test("take no answer for good that was under way when the key was revoked or the installation ended", async () => {
    const gateways = both;
    for (let round = 0; round < 10; round++) {
      const key = await services.newProperty();
      const installation = await installApp(services, key.propertyId);
      const { token } = await installation.newToken();
      const used = gateways.flatMap((open) => [open(key.secret), open(token)]);
      // The first look at them races with their end.
      const looks = used.map((api) => statusOf(api));
      const { propertyId, keyId } = key;
      await Promise.all([services.clients.identity.revokeKey({ propertyId, keyId }, testCall), installation.end()]);
      for (const status of await Promise.all(looks)) expect([200, 401]).toContain(status);
      await refused(used);
    }
  });

  test("hear again once the bus is back", async () => {
    const registry = createRegistry();
    const port = await freePort();
    const url = `nats://127.0.0.1:${port}`;
    const signals = owner.own(connectNatsSignals({ servers: [url], signer: testSigner, name: "late", log, registry }));
    const heard: string[] = [];
    signals.subscribe("test.word", (payload) => heard.push(Buffer.from(payload).toString()));
    const other = createRegistry();
    const speaker = owner.own(
      connectNatsSignals({ servers: [url], signer: testSigner, name: "speaker", log, registry: other }),
    );
    speaker.publish("test.word", Buffer.from("lost"));
    for (const word of ["first", "second"]) {
      const server = await startNats(join(folder, "other"), port);
      owner.own(server);
      await Promise.all([connected(registry), connected(other)]);
      speaker.publish("test.word", Buffer.from(word));
      await eventually(() => (heard.includes(word) ? true : undefined));
      await server.close();
      await eventually(async () => {
        const found = await other.getSingleMetric("daybook_signals_connected")?.get();
        return found?.values[0]?.value === 0 ? true : undefined;
      });
    }
    expect(heard).toEqual(["first", "second"]);
  });

  test("go on taking a good key, whatever is signalled of it, and ask identity for it a few times at most", async () => {
    const gateways = both;
    const { key, used } = await usedKey(gateways);
    const subject = `daybook-signals.${KeyEndingSchema.typeName}`;
    const payload = toBinary(KeyEndingSchema, create(KeyEndingSchema, { keyId: key.keyId }));
    const stranger = createSigner("a token that nobody of the mesh has, of enough length");
    const before = await countAsks();
    const startMs = performance.now();
    for (const signer of [undefined, stranger, testSigner]) {
      for (let round = 0; round < 20; round++) {
        await sendAsStranger(nats.url, subject, payload, signer, 100);
        expect(await Promise.all(used.map(statusOf))).toEqual([200, 200]);
      }
    }
    const seconds = (performance.now() - startMs) / 1000;
    // Only those that are signed count, and of those one a second for each gateway.
    const asked = (await countAsks()) - before;
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(((seconds * 1000) / askAgainIntervalMs + 1) * used.length);
    // The flood hides no revocation for longer than that.
    await services.clients.identity.revokeKey({ propertyId: key.propertyId, keyId: key.keyId }, testCall);
    const flood = sendAsStranger(nats.url, subject, payload, testSigner, 2_000);
    await sleep(askAgainIntervalMs + 10);
    expect(await Promise.all([...used, key].map(statusOf))).toEqual([401, 401, 401]);
    await flood;
  });

  test("hear on after signals that are none", async () => {
    const gateways = both.slice(0, 1);
    const subject = `daybook-signals.${KeyEndingSchema.typeName}`;
    for (const size of [0, 1, 1024, 1025, 100_000]) {
      // The first is unsigned, the second not.
      for (const signer of [undefined, testSigner]) {
        await sendAsStranger(nats.url, subject, Buffer.alloc(size, 0xff), signer);
      }
      const { key, used } = await usedKey(gateways);
      await services.clients.identity.revokeKey({ propertyId: key.propertyId, keyId: key.keyId }, testCall);
      expect(await refused(used)).toBe(true);
    }
  });

  // The last, because the bus is gone after it.
  test("without the bus refuse both when they forget them, and need no bus to start", async () => {
    const ageMs = 1_000;
    const early = await startGateway(ageMs);
    await nats.close();
    // One that hears nothing, as one without NATS_URL, and one that begins while the server is away.
    const deaf = await startGateway(ageMs, false);
    const { key, used } = await usedKey([early, deaf]);
    const { installation, used: tokens } = await usedTokens([early, deaf]);
    await services.clients.identity.revokeKey({ propertyId: key.propertyId, keyId: key.keyId }, testCall);
    await installation.end();
    await sleep(ageMs + 10);
    expect(new Set(await Promise.all([...used, ...tokens].map(statusOf)))).toEqual(new Set([401]));
  });
});

describe("one process", () => {
  const owner = new Owner();
  afterEach(() => owner.close());

  test("refuses a key or an installation from the moment on that its end is answered, without any NATS", async () => {
    const daybook = await startSingleProcess(owner, { callerAgeMsMax: hourMs });
    const [revoked, replaced] = [await daybook.newProperty(), await daybook.newProperty()];
    expect([await statusOf(revoked), await statusOf(replaced)]).toEqual([200, 200]);
    const { identity } = daybook.clients;
    await identity.revokeKey({ propertyId: revoked.propertyId, keyId: revoked.keyId }, testCall);
    const { propertyId, keyId } = replaced;
    await identity.rotateKey({ propertyId, keyId, overlapSeconds: 0 }, testCall);
    expect([await statusOf(revoked), await statusOf(replaced)]).toEqual([401, 401]);
    const installation = await installApp(daybook, propertyId);
    const token = await installation.newToken();
    expect(await statusOf(token)).toBe(200);
    await installation.end();
    expect(await statusOf(token)).toBe(401);
    // To end it again changes nothing.
    await installation.end();
    // To revoke it again changes nothing.
    await identity.revokeKey({ propertyId: revoked.propertyId, keyId: revoked.keyId }, testCall);
    expect(await statusOf(revoked)).toBe(401);
  });
});

describe("two gateway processes of a mesh", () => {
  const owner = new Owner();
  afterEach(() => owner.close());

  test("refuse a key and an installation before they can have forgotten them", async () => {
    const mesh = connectToMesh();
    const { internalToken, identityUrl, profileUrl, eventUrl, metricUrl } = inject("mesh");
    const port = await freePort();
    const second = owner.own(
      startNode("gateway/main.ts", {
        HOST: "127.0.0.1",
        PORT: String(port),
        INTERNAL_PORT: "0",
        INTERNAL_TOKEN: internalToken,
        NATS_URL: inject("natsUrl"),
        IDENTITY_URL: identityUrl,
        PROFILE_URL: profileUrl,
        EVENT_URL: eventUrl,
        METRIC_URL: metricUrl,
      }),
    );
    const baseUrl = `http://127.0.0.1:${port}`;
    await eventually(async () => ((await fetch(`${baseUrl}/health/ready`)).ok ? true : undefined), {
      explain: second.output,
    });
    // Every gateway remembers for five seconds. A try in which so much passed says nothing, so there is another.
    await eventually(async () => {
      const key = await mesh.newProperty();
      const installation = await installApp(mesh, key.propertyId);
      const token = await installation.newToken();
      const apis = [key, createApi(baseUrl, key.secret), token, createApi(baseUrl, token.token)];
      const startMs = performance.now();
      expect(await Promise.all(apis.map(statusOf))).toEqual([200, 200, 200, 200]);
      await mesh.clients.identity.revokeKey({ propertyId: key.propertyId, keyId: key.keyId }, testCall);
      await installation.end();
      await eventually(async () =>
        (await Promise.all(apis.map(statusOf))).every((status) => status === 401) ? true : undefined,
      );
      return performance.now() - startMs < 4_500 ? true : undefined;
    });
  });
});
