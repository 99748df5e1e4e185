/**
 * No request costs more than its size: every text, object and list of every operation at its heaviest, inflated from
 * gzip, is answered with less than a second of CPU of all services together. The time is that of the process, which
 * other work on the machine changes little.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import type { Api } from "../support/api.ts";
import { createDatabase } from "../support/database.ts";
import { connectTo } from "../support/daybook.ts";
import { heavyBodies } from "../support/heavy-bodies.ts";
import { fillPath, readOpenApi, type DescribedOperation, type OpenApi } from "../support/openapi.ts";
import { freePort } from "../support/processes.ts";
import { startOneProcess } from "../support/single-process.ts";
import { marksOutOfOrder, worstRequests } from "../support/worst-requests.ts";

const cpuSecondsMax = 1;
// Of a good job of 5 MB, which is read, checked and kept whole, in steps that let others in, and is begun at once.
const jobCpuSecondsMax = 3;
// Heavy bodies go in groups, as many as leave each of them far below the limit; a group that is above it is looked at
// one by one.
const groupSize = 12;
const turnsMax = 3;
const settleMs = 100;
const idleShareMax = 0.2;
const gzip = { "content-type": "application/json", "content-encoding": "gzip" };

const owner = new Owner();
let api: Api;
let openApi: OpenApi;
let cpuSeconds: () => Promise<number>;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-cost-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const database = owner.own(await createDatabase(inject("databaseUrl")));
  const internalPort = await freePort();
  const addresses = await startOneProcess(database.url, folder, owner, {
    INTERNAL_PORT: String(internalPort),
    RATE_LIMIT_PER_MINUTE: "1000000",
    RATE_LIMIT_BACKFILL_PER_MINUTE: "1000000",
  });
  api = await connectTo(addresses).newProperty();
  openApi = await readOpenApi(api);
  cpuSeconds = async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${internalPort}/metrics`)).text();
    return Number(/^process_cpu_seconds_total (\S+)/m.exec(metrics)?.[1]);
  };
});
afterAll(() => owner.close());

/** Waits until nothing is done any more behind the answers so far: that is not held against the next request. */
async function settle(): Promise<void> {
  for (let before = await cpuSeconds(); ;) {
    await sleep(settleMs);
    const now = await cpuSeconds();
    if (now - before < (settleMs / 1000) * idleShareMax) return;
    before = now;
  }
}

/** The CPU time of the server during some work. */
async function cpuSecondsOf(work: () => Promise<unknown>): Promise<number> {
  const before = await cpuSeconds();
  await work();
  return (await cpuSeconds()) - before;
}

/**
 * The least CPU time of some work, which may be done several times: garbage of what was before falls into one of them.
 */
async function leastCpuSecondsOf(work: () => Promise<unknown>, limit: number): Promise<number> {
  let least = Infinity;
  for (let turn = 0; turn < turnsMax && least >= limit; turn++) {
    if (turn > 0) await settle();
    least = Math.min(least, await cpuSecondsOf(work));
  }
  return least;
}

test("the requests that once cost most", async () => {
  for (const { name, path, body, before, status } of worstRequests()) {
    if (before) expect([name, (await api.post(before.path, before.body)).status]).toEqual([name, 201]);
    const bytes = gzipSync(JSON.stringify(body));
    const limit = status === 202 ? jobCpuSecondsMax : cpuSecondsMax;
    const send = async (): Promise<void> => {
      expect([name, (await api.post(path, bytes, { headers: gzip })).status]).toEqual([name, status]);
    };
    expect(await leastCpuSecondsOf(send, limit), name).toBeLessThan(limit);
  }
});

/** A path with ids that nobody has. */
function pathOf(operation: DescribedOperation): string {
  return fillPath(operation, ({ example }) => (typeof example === "string" ? example : "x"));
}

test("every text, object and list of every operation at its heaviest", async () => {
  const dear: [string, number][] = [];
  let sent = 0;
  for (const operation of [...openApi.operations, ...openApi.compat]) {
    const { method, operationId, body } = operation;
    const requests = new Map<string, Uint8Array>();
    for (const { value } of Object.values(body?.examples ?? {})) {
      for (const { place, body: heavy } of heavyBodies(body?.schema ?? {}, value, openApi.resolve)) {
        // What several examples have in common is heavy once.
        if (!requests.has(place)) requests.set(place, gzipSync(JSON.stringify(heavy), { level: 1 }));
      }
    }
    const send = async (bytes: Uint8Array): Promise<void> => {
      const { status } = await api.request(method, pathOf(operation), { headers: gzip, body: bytes as never });
      expect([operationId, status < 500]).toEqual([operationId, true]);
    };
    const all = [...requests];
    for (let from = 0; from < all.length; from += groupSize) {
      const group = all.slice(from, from + groupSize);
      const together = await cpuSecondsOf(() => Promise.all(group.map(([, bytes]) => send(bytes))));
      sent += group.length;
      if (together < cpuSecondsMax) continue;
      for (const [place, bytes] of group) {
        const seconds = await leastCpuSecondsOf(() => send(bytes), cpuSecondsMax);
        if (seconds >= cpuSecondsMax) dear.push([`${operationId} ${place}`, seconds]);
      }
    }
  }
  expect(dear).toEqual([]);
  expect(sent).toBeGreaterThan(300);
}, 120_000);

test("every parameter of every operation at its heaviest", async () => {
  // Of percent signs, as much as fits into the first line of a request.
  const marks = encodeURIComponent(marksOutOfOrder(2_000)).slice(0, 12_001);
  for (const operation of [...openApi.operations, ...openApi.compat]) {
    const askAll = async (): Promise<void> => {
      for (const { name, in: place } of operation.parameters) {
        if (place === "header") continue;
        const path =
          place === "path" ? operation.path.replace(`{${name}}`, marks) : `${pathOf(operation)}?${name}=${marks}`;
        expect((await api.request(operation.method, path.replaceAll(/\{\w+\}/g, "x"))).status).toBeLessThan(500);
      }
    };
    expect(await leastCpuSecondsOf(askAll, cpuSecondsMax), operation.operationId).toBeLessThan(cpuSecondsMax);
  }
});
