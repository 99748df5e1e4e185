/** Two event services side by side, of which one is killed under load. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createDatabase } from "../support/database.ts";
import { connectTo } from "../support/daybook.ts";
import { startKillableMesh, type ProcessName } from "../support/mesh.ts";
import { startNats } from "../support/nats.ts";
import { eventually } from "../support/processes.ts";

const owner = new Owner();
afterAll(() => owner.close());

const clients = 8;

test("both replicas record, and a client that repeats loses no event and doubles none when one is killed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-replicas-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const { url: natsUrl } = owner.own(await startNats(folder));
  const { url: databaseUrl } = owner.own(await createDatabase(inject("databaseUrl")));
  const mesh = await startKillableMesh({ databaseUrl, natsUrl }, owner, ["event2"]);
  const api = await connectTo(mesh.addresses).newProperty();

  /** The id that was answered for each event, by its name. */
  const recorded = new Map<string, string>();
  const refused: string[] = [];
  async function record(): Promise<void> {
    const name = randomUUID();
    const identifier = { type: "email", value: `${name}@example.com` };
    const body = JSON.stringify({ type: "replica.event", identifier, properties: { name } });
    const headers = { "idempotency-key": randomUUID(), "content-type": "application/json" };
    const id = await eventually(async () => {
      const answer = await api.request("POST", "/v1/events", { headers, body });
      if (answer.status === 201) return answer.body.data.id as string;
      refused.push(answer.text);
      return undefined;
    });
    recorded.set(name, id);
  }
  const over = new AbortController();
  const recording = Array.from({ length: clients }, async () => {
    while (!over.signal.aborted) await record();
  });
  const countCalls = async (name: ProcessName): Promise<number> => {
    const metrics = await (await fetch(`${mesh.internalUrl(name)}/metrics`)).text();
    return Number(
      /^daybook_rpc_duration_seconds_count\{method="RecordEvents",code="ok".*\} (\d+)$/m.exec(metrics)?.[1],
    );
  };
  const reach = (count: number) => eventually(() => (recorded.size >= count ? true : undefined), { timeoutMs: 60_000 });

  await reach(100);
  const shares = [await countCalls("event"), await countCalls("event2")];
  // The gateway sends events of concurrent requests together, so calls are fewer than events.
  expect([shares, Math.min(...shares) > Math.max(...shares) / 3]).toEqual([shares, true]);
  await mesh.kill("event2");
  await reach(recorded.size + 100);
  await mesh.restart("event2");
  await reach(recorded.size + 50);
  await eventually(async () => ((await countCalls("event2")) > 0 ? true : undefined));
  over.abort();
  await Promise.all(recording);
  // Only calls that the killed one had were refused.
  expect([refused, refused.length <= clients]).toEqual([refused, true]);

  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  owner.defer(() => database.end());
  const { rows } = await database.query<{ name: string }>(
    "SELECT properties->>'name' AS name FROM event.events WHERE type = 'replica.event'",
  );
  expect(rows.map(({ name }) => name).toSorted()).toEqual([...recorded.keys()].toSorted());
}, 300_000);
