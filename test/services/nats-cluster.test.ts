/** Three NATS servers that keep three copies: one of them may go at any moment. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { connectNatsBus } from "#shared/bus/nats/bus.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { allTaken, beginLoad, countOf } from "../support/counting.ts";
import { startSingleProcess, testSigner } from "../support/daybook.ts";
import { describeStream, startNatsCluster } from "../support/nats.ts";
import { eventually } from "../support/processes.ts";

const log = createLog("test", "silent");
const owner = new Owner();
let cluster: Awaited<ReturnType<typeof startNatsCluster>>;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "daybook-nats-cluster-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  cluster = await startNatsCluster(folder);
  owner.defer(async () => {
    await Promise.all([...cluster.servers.values()].map((server) => server.close()));
  });
});
afterAll(() => owner.close());

const connectTo = (servers: string[], replicas: number | undefined) =>
  connectNatsBus({ servers, signer: testSigner, name: "test", replicas, log, registry: createRegistry() });

test("a stream is given as many replicas as are asked for, and events recorded while a server dies are counted once", async () => {
  const before = new Owner();
  before.own(await connectTo(cluster.urls, undefined));
  const made = await describeStream(cluster.urls);
  expect(made.replicas).toBe(1);
  await before.close();

  const daybook = await startSingleProcess(owner, { nats: { servers: cluster.urls, replicas: 3 }, log });
  const { leader, replicas, created } = await eventually(async () => {
    const stream = await describeStream(cluster.urls);
    return stream.leader === "" ? undefined : stream;
  });
  expect(replicas).toBe(3);
  // What an outbox notes of the stream stays right.
  expect(created).toBe(made.created);
  const api = await daybook.newProperty();
  const load = beginLoad(api, "lost.server");
  await load.more(50);
  await allCopied();
  await cluster.servers.get(leader)?.close();
  const left = [...cluster.servers].filter(([name]) => name !== leader).map(([, { url }]) => url);
  await load.more(50);
  await eventually(
    async () => {
      const stream = await describeStream(left);
      return stream.leader !== "" && stream.leader !== leader ? true : undefined;
    },
    { explain: () => "no other server leads" },
  );
  await load.more(50);
  const answered = await load.stop();
  await allTaken(daybook);
  expect(await countOf(daybook, api.propertyId, "lost.server")).toBe(answered);
  expect((await describeStream(left)).created).toBe(created);
}, 180_000);

/** Waits until every server has caught up: before that the one that dies may be the only one that knows. */
async function allCopied(): Promise<void> {
  await eventually(
    async () => {
      const { current } = await describeStream(cluster.urls);
      return current === 2 ? true : undefined;
    },
    { explain: () => "not every server has a copy" },
  );
}

test("a single server that cannot keep three copies goes on with one", async () => {
  const url = inject("natsUrl");
  const bus = await connectTo([url], undefined);
  await bus.close();
  const asking = await connectTo([url], 3);
  owner.own(asking);
  expect((await describeStream([url])).replicas).toBe(1);
  const [outcome] = await asking.publish([{ id: "x", subject: "daybook.test.single", payload: Buffer.from("x") }]);
  expect(outcome).toMatchObject({ sequence: expect.any(Number) });
});
