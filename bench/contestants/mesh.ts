/** Runs Daybook as five processes or more, on a NATS and a database of their own. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { IdentityService, Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import type { Owner } from "#shared/process/lifecycle.ts";
import { http2Transport } from "#shared/rpc/transport.ts";
import { startKillableMesh, type Copy } from "../../test/support/mesh.ts";
import { startNats } from "../../test/support/nats.ts";
import { countRows, createDatabase, type BenchDatabase } from "../support/database.ts";
import type { Recorder } from "./single-events.ts";

const limit = "1000000000";
const settlePollMs = 50;
const settleTimeoutMs = 60_000;

/**
 * Starts a mesh; `owner` closes all of it.
 * @param copies second processes of services.
 */
export async function startMeshContestant(
  server: BenchDatabase,
  owner: Owner,
  copies: readonly Copy[] = [],
): Promise<Recorder> {
  const name = ["mesh", ...copies].join("_");
  const database = await createDatabase(server, name, owner);
  const nats = owner.own(await startNats(join(server.folder, `nats_${name}`)));
  const env = { RATE_LIMIT_PER_MINUTE: limit };
  const servers = { databaseUrl: database.url, natsUrl: nats.url, env };
  const processes = await startKillableMesh(servers, owner, copies);
  const { addresses: mesh } = processes;
  const internalUrls = [...mesh.internalUrls, ...copies.map((copy) => processes.internalUrl(copy))];
  const identity = createClient(IdentityService, http2Transport(mesh.identityUrl, mesh.internalToken));
  const call = systemCall("bench");
  const { property } = await identity.createProperty({ name: "Bench", mode: Mode.LIVE }, call);
  const propertyId = property?.id ?? "";
  const { secret } = await identity.createKey({ propertyId, name: "bench", scopes: ["events:write"] }, call);
  return {
    address: mesh.gatewayUrl,
    key: secret,
    async cpuSeconds() {
      const texts = await Promise.all(internalUrls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
      const figures = texts.map((text) => Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1]));
      return figures.reduce((sum, figure) => sum + figure, 0);
    },
    // Without system events, which the bench did not send.
    countEvents: () => countRows(database.pool, "event.events WHERE source <> 'system'"),
    async settle() {
      const deadlineMs = performance.now() + settleTimeoutMs;
      while ((await countRows(database.pool, "event.outbox")) > 0) {
        if (performance.now() > deadlineMs) throw new Error("the outbox of the mesh does not become empty");
        await sleep(settlePollMs);
      }
    },
  };
}
