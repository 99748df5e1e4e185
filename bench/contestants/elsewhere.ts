/** Daybooks on a database of their own, beside the one that the bench starts first. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { IdentityService, Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import type { Owner } from "#shared/process/lifecycle.ts";
import { http2Transport } from "#shared/rpc/transport.ts";
import type { DaybookAddresses } from "../../test/support/daybook.ts";
import { startKillableMesh, type Copy } from "../../test/support/mesh.ts";
import { startNats } from "../../test/support/nats.ts";
import { freePort } from "../../test/support/processes.ts";
import { startOneProcess } from "../../test/support/single-process.ts";
import { countRows, createDatabase, type BenchDatabase } from "../support/database.ts";
import type { Recorder } from "./single-events.ts";

const env = { RATE_LIMIT_PER_MINUTE: "1000000000" };
const settlePollMs = 50;
const settleTimeoutMs = 60_000;

/**
 * Starts a mesh of five processes on a NATS; `owner` closes all of it.
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
  const servers = { databaseUrl: database.url, natsUrl: nats.url, env };
  const mesh = await startKillableMesh(servers, owner, copies);
  const internalUrls = [...mesh.addresses.internalUrls, ...copies.map((copy) => mesh.internalUrl(copy))];
  return toRecorder(database, mesh.addresses, internalUrls);
}

/** Starts `npm start` with WORKERS; `owner` closes it. */
export async function startWorkersContestant(server: BenchDatabase, owner: Owner, workers: string): Promise<Recorder> {
  const database = await createDatabase(server, `workers_${workers}`, owner);
  const internalPort = await freePort();
  const settings = { ...env, WORKERS: workers, INTERNAL_PORT: String(internalPort) };
  const addresses = await startOneProcess(database.url, database.folder, owner, settings);
  return toRecorder(database, addresses, [`http://127.0.0.1:${internalPort}`]);
}

/** @param internalUrls where the processes tell their CPU time. */
async function toRecorder(
  database: BenchDatabase,
  { gatewayUrl, identityUrl, internalToken }: DaybookAddresses,
  internalUrls: readonly string[],
): Promise<Recorder> {
  const identity = createClient(IdentityService, http2Transport(identityUrl, internalToken));
  const call = systemCall("bench");
  const { property } = await identity.createProperty({ name: "Bench", mode: Mode.LIVE }, call);
  const propertyId = property?.id ?? "";
  const { secret } = await identity.createKey({ propertyId, name: "bench", scopes: ["events:write"] }, call);
  return {
    address: gatewayUrl,
    key: secret,
    async cpuSeconds() {
      const texts = await Promise.all(internalUrls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
      const figures = texts.flatMap((text) => [...text.matchAll(/^process_cpu_seconds_total\S* (\S+)/gm)]);
      return figures.reduce((sum, [, figure]) => sum + Number(figure), 0);
    },
    // Without system events, which the bench did not send.
    countEvents: () => countRows(database.pool, "event.events WHERE source <> 'system'"),
    async settle() {
      const deadlineMs = performance.now() + settleTimeoutMs;
      while ((await countRows(database.pool, "event.outbox")) > 0) {
        if (performance.now() > deadlineMs) throw new Error("the outbox does not become empty");
        await sleep(settlePollMs);
      }
    },
  };
}
