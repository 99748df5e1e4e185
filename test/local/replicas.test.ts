/** Several `npm start` over one PostgreSQL, as the compact overlay of Kubernetes runs them. */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createApi, type Api } from "../support/api.ts";
import { createDatabase } from "../support/database.ts";
import { eventually, freePort, startNode, type RunningProcess } from "../support/processes.ts";
import { aggregatesPath } from "../support/recount.ts";

const owner = new Owner();
const secret = `sk_test_${"r".repeat(40)}`;
const shared = {
  INTERNAL_TOKEN: "the token that all replicas of the test share",
  BOOTSTRAP_TEST_KEY: secret,
  BOOTSTRAP_LIVE_KEY: `sk_live_${"r".repeat(40)}`,
};
let folder: string;
let replicas: (RunningProcess & { api: Api })[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "daybook-replicas-"));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  const { url } = owner.own(await createDatabase(inject("databaseUrl")));
  // Both at once, so that they migrate and make the demo properties at the same time.
  replicas = await Promise.all(["one", "two"].map((name) => startReplica(join(folder, name), url)));
});
afterAll(() => owner.close());

async function startReplica(dataDir: string, databaseUrl: string): Promise<RunningProcess & { api: Api }> {
  const port = await freePort();
  const settings = { ...shared, DATABASE_URL: databaseUrl, DATA_DIR: dataDir };
  const process = owner.own(startNode("deploy/local/main.ts", { ...settings, PORT: String(port), INTERNAL_PORT: "0" }));
  await eventually(() => (/^curl /m.test(process.output()) ? true : undefined), {
    timeoutMs: 90_000,
    explain: process.output,
  });
  return { ...process, api: createApi(`http://127.0.0.1:${port}`, secret) };
}

function event(turn: number) {
  return { type: "replica.event", identifier: { type: "email", value: `r${turn}@example.com` }, properties: {} };
}

test("events that went to either are counted once, and a page begun at one goes on at the other", async () => {
  for (let turn = 0; turn < 20; turn++) {
    const { status, text } = await (replicas[turn % 2] as (typeof replicas)[number]).api.post(
      "/v1/events",
      event(turn),
    );
    expect([status, text]).toEqual([201, text]);
  }
  const [first, second] = replicas as [(typeof replicas)[number], (typeof replicas)[number]];
  const wanted = "filter[type]=replica.event&page[limit]=15";
  const page = await first.api.get(`/v1/events?${wanted}`);
  const rest = await second.api.get(`/v1/events?${wanted}&page[after]=${page.body.meta.page.next_cursor}`);
  expect([page.body.data.length, rest.status, rest.body.data?.length]).toEqual([15, 200, 5]);
  const range = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() };
  let answer = "";
  await eventually(
    async () => {
      const { text, body } = await second.api.post(aggregatesPath, { metric: "replica.event", ...range });
      answer = text;
      return body.data?.series[0].count[0] === 20 ? true : undefined;
    },
    { explain: () => `the events are not counted: ${answer}` },
  );
});

test("no replica prints a key that it was given", () => {
  for (const { output } of replicas) {
    expect(output()).not.toMatch(/sk_(?:test|live)_\w/);
    expect(output()).toMatch(/BOOTSTRAP_TEST_KEY|DAYBOOK_KEY/);
  }
});

test("the command line reaches a replica through its DATA_DIR, although INTERNAL_TOKEN is set", () => {
  const { stdout, stderr } = spawnSync(process.execPath, ["gateway/cli/main.ts", "properties", "list"], {
    encoding: "utf8",
    env: { ...process.env, ...shared, DATA_DIR: join(folder, "two") },
  });
  expect([stdout.match(/prop_/g)?.length, stderr]).toEqual([2, ""]);
});
