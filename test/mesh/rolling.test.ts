/**
 * A deployment of each service, again and again: every process but the one that was told to stop goes on, and no client
 * sees any of it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import type { Api } from "../support/api.ts";
import { createDatabase } from "../support/database.ts";
import { connectTo } from "../support/daybook.ts";
import { serviceNames, startRollingMesh } from "../support/mesh.ts";
import { startNats } from "../support/nats.ts";

const owner = new Owner();
afterAll(() => owner.close());

// A restart takes a second of CPU, and there are four services. ROLLS=50 takes three minutes.
const rollsOfEach = Number(process.env.ROLLS ?? 4);
// Each client rests so long after each of its requests. A service is told to stop while its callers are at work, and
// while they are idle.
const restsMs = [20, 100, 300];

/** Requests that together reach every service. */
const requests: ((api: Api, turn: number) => Promise<{ status: number; text: string }>)[] = [
  (api, turn) =>
    api.post("/v1/events", {
      type: "rolling.event",
      identifier: { type: "email", value: `p${turn % 50}@example.com` },
      properties: { turn },
    }),
  (api, turn) =>
    api.post("/v1/profiles/upsert", { identifiers: [{ type: "email", value: `p${turn % 50}@example.com` }] }),
  (api) => api.get("/v1/metrics"),
  (api) => api.get("/v1/events?page[limit]=5"),
];

test(`every service is replaced ${rollsOfEach} times under load, and no client sees an error`, async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-rolling-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const { url: natsUrl } = owner.own(await startNats(folder));
  const { url: databaseUrl } = owner.own(await createDatabase(inject("databaseUrl")));
  const mesh = await startRollingMesh({ databaseUrl, natsUrl }, owner);
  const api = await connectTo(mesh.addresses).newProperty();

  const over = new AbortController();
  const errors: string[] = [];
  let answered = 0;
  const clients = restsMs.map(async (restMs) => {
    for (let turn = 0; !over.signal.aborted; turn++) {
      const request = requests[turn % requests.length] as (typeof requests)[number];
      const { status, text } = await request(api, turn);
      answered++;
      if (status >= 400) errors.push(`${status} ${text}`);
      await sleep(restMs);
    }
  });
  const rolling = serviceNames.map(async (name) => {
    for (let turn = 0; turn < rollsOfEach; turn++) await mesh.roll(name);
  });
  // Whatever fails first ends the test.
  await Promise.race([Promise.all(rolling), Promise.all(clients)]);
  over.abort();
  await Promise.all(clients);

  expect(errors).toEqual([]);
  expect(answered).toBeGreaterThan(rollsOfEach);
  const { child, output } = mesh.copyOf("gateway");
  expect([output(), child.exitCode, child.signalCode]).toEqual([output(), null, null]);
}, 900_000);
