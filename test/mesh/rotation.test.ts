/** The internal token changes while processes are replaced one by one, and nobody notices. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { afterAll, expect, inject, test } from "vitest";
import { IdentityService } from "#proto/daybook/identity/v1/identity_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { http2Transport } from "#shared/rpc/transport.ts";
import { countOf } from "../support/counting.ts";
import { createDatabase } from "../support/database.ts";
import { connectTo, testCall } from "../support/daybook.ts";
import { names, startRollingMesh } from "../support/mesh.ts";
import { startNats } from "../support/nats.ts";
import { eventually } from "../support/processes.ts";

/** Clients rest so long between requests, so that the machine has time to start processes. */
const restMs = 20;

const owner = new Owner();
afterAll(() => owner.close());

test("INTERNAL_TOKEN changes under load without a refused call, a lost message or a cursor that ends early", async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-rotation-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const { url: natsUrl } = owner.own(await startNats(folder));
  const { url: databaseUrl } = owner.own(await createDatabase(inject("databaseUrl")));
  const mesh = await startRollingMesh({ databaseUrl, natsUrl }, owner);
  const api = await connectTo(mesh.addresses).newProperty();
  const old = mesh.addresses.internalToken;
  const fresh = "another token for the mesh of the tests";

  const refused: string[] = [];
  const over = new AbortController();
  let recorded = 0;
  /** Sends again what the closing of a connection cut off before it was answered. */
  const ask = (key: string) =>
    eventually(() =>
      api.request("POST", "/v1/events", {
        headers: { "idempotency-key": key, "content-type": "application/json" },
        body: JSON.stringify({ type: "rotation.event", identifier: { type: "card", value: key }, properties: {} }),
      }),
    );
  const recording = Array.from({ length: 3 }, async () => {
    while (!over.signal.aborted) {
      const { status, text } = await ask(randomUUID());
      if (status === 201) recorded++;
      else refused.push(`${status} ${text}`);
      await sleep(restMs);
    }
  });
  const roll = async (token: string): Promise<void> => {
    for (const name of names) {
      const before = recorded;
      await mesh.roll(name, { INTERNAL_TOKEN: token });
      await eventually(() => (recorded > before || refused.length > 0 ? true : undefined));
      expect([token, name, refused]).toEqual([token, name, []]);
    }
  };
  const list = (cursor = "") => api.get(`/v1/events?page[limit]=1${cursor && `&page[after]=${cursor}`}`);
  const cursor: string = (await eventually(async () => {
    const { body } = await list();
    return body.meta.page.next_cursor ?? undefined;
  })) as string;

  await roll(`${old},${fresh}`);
  await roll(`${fresh},${old}`);
  expect((await list(cursor)).status).toBe(200);
  const properties = (token: string) =>
    createClient(IdentityService, http2Transport(mesh.addresses.identityUrl, token)).listProperties(
      { limit: 1 },
      testCall,
    );
  await properties(old);
  await roll(fresh);
  over.abort();
  await Promise.all(recording);
  expect(refused).toEqual([]);
  await properties(fresh);
  await expect(properties(old)).rejects.toThrow("answers only its own mesh");
  expect((await list(cursor)).status).toBe(400);
  const daybook = connectTo({ ...mesh.addresses, internalToken: fresh });
  await eventually(
    async () => ((await countOf(daybook, api.propertyId, "rotation.event")) === recorded ? true : undefined),
    { explain: () => "not every event was counted" },
  );
}, 600_000);
