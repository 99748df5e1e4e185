/** Runs Daybook as six processes, with receivers of webhooks beside it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { IdentityService, Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { WebhookService } from "#proto/daybook/webhook/v1/webhook_pb.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import type { Owner } from "#shared/process/lifecycle.ts";
import { http2Transport } from "#shared/rpc/transport.ts";
import { newestRevision } from "#shared/values/revisions.ts";
import { startKillableMesh } from "../../test/support/mesh.ts";
import { startNats } from "../../test/support/nats.ts";
import { createAuthority } from "../../test/support/receivers.ts";
import { countRows, createDatabase, type BenchDatabase } from "../support/database.ts";

export type ReceiverName = "healthy" | "slow" | "dead" | "hostile";

export interface WebhookMesh {
  address: string;
  /** Makes a property with endpoints at these receivers. @returns a key of it. */
  newProperty(receivers: readonly ReceiverName[]): Promise<string>;
  /** How long messages took to the healthy receiver since the last call, in milliseconds. */
  takeLatencies(): Promise<number[]>;
  /** Deliveries to healthy endpoints that are not there yet. */
  countWaiting(): Promise<number>;
  cpuSeconds: () => Promise<number>;
}

const limit = "1000000000";
const answerTimeoutMs = 10_000;

/** Starts it all; `owner` closes it. */
export async function startWebhookMesh(server: BenchDatabase, owner: Owner): Promise<WebhookMesh> {
  const { ca, cert, key } = await createAuthority();
  const caFile = join(server.folder, "receivers.pem");
  await writeFile(caFile, ca);
  const child = fork(join(import.meta.dirname, "receivers.process.ts"), {
    env: { ...process.env, CERT: cert, KEY: key },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  owner.defer(async () => {
    if (child.exitCode === null && child.kill()) await once(child, "exit");
  });
  const signal = (): AbortSignal => AbortSignal.timeout(answerTimeoutMs);
  const [ports] = (await once(child, "message", { signal: signal() })) as [Record<ReceiverName, number>];
  const database = await createDatabase(server, "webhooks", owner);
  const nats = owner.own(await startNats(join(server.folder, "nats_webhooks")));
  const env = {
    RATE_LIMIT_PER_MINUTE: limit,
    WEBHOOK_ALLOWED_NETWORKS: "127.0.0.0/8",
    NODE_EXTRA_CA_CERTS: caFile,
  };
  const { addresses: mesh } = await startKillableMesh({ databaseUrl: database.url, natsUrl: nats.url, env }, owner);
  const identity = createClient(IdentityService, http2Transport(mesh.identityUrl, mesh.internalToken));
  const webhooks = createClient(WebhookService, http2Transport(mesh.webhookUrl, mesh.internalToken));
  const call = systemCall("bench");
  const healthyUrl = `https://127.0.0.1:${ports.healthy}/`;
  return {
    address: mesh.gatewayUrl,
    async newProperty(receivers) {
      const { property } = await identity.createProperty({ name: "Bench", mode: Mode.LIVE }, call);
      const propertyId = property?.id ?? "";
      for (const name of receivers) {
        const url = `https://127.0.0.1:${ports[name]}/`;
        const types = ["event.recorded"];
        await webhooks.createEndpoint({ propertyId, url, types, revision: newestRevision, createdBy: "bench" }, call);
      }
      const { secret } = await identity.createKey({ propertyId, name: "bench", scopes: ["events:write"] }, call);
      return secret;
    },
    async takeLatencies() {
      const answer = once(child, "message", { signal: signal() });
      child.send("take");
      const [{ latencies }] = (await answer) as [{ latencies: number[] }];
      return latencies;
    },
    countWaiting: async () =>
      (await countRows(database.pool, "event.outbox")) +
      (await countRows(
        database.pool,
        `webhook.deliveries d JOIN webhook.endpoints e ON e.property_id = d.property_id AND e.id = d.endpoint_id
         WHERE d.status = 'pending' AND e.url = '${healthyUrl}'`,
      )),
    async cpuSeconds() {
      const texts = await Promise.all(mesh.internalUrls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
      return texts.reduce((sum, text) => sum + Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1]), 0);
    },
  };
}
