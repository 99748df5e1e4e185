/** `npm run demo` as a newcomer runs it: stopped, killed, run again, and with keys that it must not take. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Mode } from "#proto/daybook/identity/v1/identity_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { decodeId } from "#shared/values/ids.ts";
import { describeOnce, testCall, type TestProperty } from "../support/daybook.ts";
import { eventually, startNode, type RunningProcess } from "../support/processes.ts";

const size = ["--people", "120", "--days", "30", "--seed", "6"];
const visits = "/v1/events?filter[type]=product.viewed";
const owner = new Owner();
let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "daybook-demo-"));
  owner.defer(() => rm(dataDir, { recursive: true, force: true }));
});
afterAll(() => owner.close());

/** What a summary says of events by type, profiles and the like. */
function countsIn(output: string): Map<string, number> {
  const lines = output.matchAll(/^ +([\d,]+)  +([a-z].*)$/gm);
  return new Map(lines.map(([, count = "", name = ""]) => [name, Number(count.replaceAll(",", ""))]));
}

describeOnce("the demo", (daybook) => {
  const begin = (env: Record<string, string>, words: readonly string[] = []): RunningProcess =>
    owner.own(startNode("deploy/demo/main.ts", { DATA_DIR: dataDir, ...env }, words));
  const run = async (env: Record<string, string>, words: readonly string[] = []) => {
    const { ended, output } = begin(env, words);
    const { code } = await ended;
    return { code, output: output() };
  };
  const at = (secret: string) => ({ DAYBOOK_URL: daybook().baseUrl, DAYBOOK_KEY: secret });
  /** Settings with a key that keeps a demo waiting in its middle, for the rest of the minute. */
  const slowly = async ({ propertyId }: TestProperty, ordinary: number) => {
    const scopes = ["accounts:read", "events:write", "profiles:read", "profiles:write", "metrics:write"];
    const request = { propertyId, name: "slow", scopes, rateLimits: { ordinary } };
    return at((await daybook().clients.identity.createKey(request, testCall)).secret);
  };

  async function countsOf(api: TestProperty, names: Iterable<string>): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    const [from, to] = [-70, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
    for (const metric of names) {
      const { body } = await api.post("/v1/metric-aggregates", { metric, from, to });
      counts.set(metric, body.data.series[0]?.count[0] ?? 0);
    }
    return counts;
  }

  async function profilesOf(api: TestProperty, status: string): Promise<number> {
    const { body } = await api.get(`/v1/profiles?filter[status]=${status}&page[limit]=100`);
    expect(body.meta.page.has_more).toBe(false);
    return body.data.length;
  }

  test("killed and stopped it goes on, and makes once what it says, with a store's seasons", async () => {
    const api = await daybook().newProperty();
    // Some 13 requests until the first visit; a worker that the demo asks no more may keep some of the window.
    const killed = begin(await slowly(api, 22), size);
    await eventually(async () => ((await api.get(visits)).body.data.length > 0 ? true : undefined), {
      explain: killed.output,
    });
    killed.child.kill("SIGKILL");
    expect(await killed.ended).toMatchObject({ signal: "SIGKILL" });

    const stopped = begin(await slowly(api, 8));
    await eventually(() => (stopped.output().includes("Going on where it was stopped") ? true : undefined), {
      explain: stopped.output,
    });
    stopped.child.kill("SIGINT");
    expect(await stopped.ended).toMatchObject({ code: 130 });
    expect(stopped.output()).toContain("The same command goes on");

    const { code, output } = await run(at(api.secret), size);
    expect([code, output]).toEqual([0, expect.stringContaining(`${daybook().baseUrl}/dashboard/${api.propertyId}`)]);
    const said = countsIn(output);
    const types = [...said.keys()].filter((name) => name.includes("."));
    expect(types.length).toBeGreaterThan(6);
    expect(types.reduce((sum, type) => sum + (said.get(type) ?? 0), 0)).toBe(said.get("events"));
    const expectOnce = async (): Promise<void> => {
      await eventually(async () => {
        const counts = await countsOf(api, types);
        expect([...counts]).toEqual(types.map((type) => [type, said.get(type)]));
        // The mark of the demo is a profile too.
        expect(await profilesOf(api, "active")).toBe((said.get("profiles") ?? 0) + 1);
        return true;
      });
      expect(said.get("of them merged from two")).toBeGreaterThan(0);
      expect(await profilesOf(api, "merged")).toBe(said.get("of them merged from two"));
    };
    await expectOnce();

    const again = await run(at(api.secret));
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining("is there already") });
    expect(countsIn(again.output)).toEqual(said);

    // Two days later the API has forgotten the keys of a demo that was not finished.
    const [mark] = (await api.get("/v1/profiles?filter[external_id]=daybook-demo")).body.data;
    const earlier = { steps_done: 0, is_finished: false, saved_at: new Date(Date.now() - 172_800_000).toISOString() };
    const attributes = { daybook_demo: { ...mark.attributes.daybook_demo, ...earlier } };
    expect((await api.patch(`/v1/profiles/${mark.id}`, { attributes })).status).toBe(200);
    const client = new pg.Client({ connectionString: daybook().databaseUrl });
    await client.connect();
    for (const table of ["identity.operations", "profile.operations", "metric.operations", "event.dedupe_keys"]) {
      await client.query(`DELETE FROM ${table} WHERE property_id = $1`, [decodeId("prop", api.propertyId, "property")]);
    }
    await client.end();
    expect(await run(at(api.secret))).toMatchObject({ code: 0, output: expect.stringContaining("Look at it") });
    await expectOnce();

    const hours = { metric: "product.viewed", interval: "hour", timezone: "Europe/Berlin" };
    const [from, to] = [-29, 0].map(
      (days) => `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`,
    );
    const { buckets, series } = (await api.post("/v1/metric-aggregates", { ...hours, from, to })).body.data;
    const inHours = (first: number, last: number): number =>
      buckets.reduce((sum: number, bucket: string, index: number) => {
        const hour = (new Date(bucket).getUTCHours() + 2) % 24;
        return hour >= first && hour <= last ? sum + series[0].count[index] : sum;
      }, 0);
    expect(inHours(18, 22)).toBeGreaterThan(5 * inHours(2, 6));

    const other = await run(at(api.secret), ["--people", "50"]);
    expect(other).toMatchObject({
      code: 1,
      output: expect.stringContaining("--people 120 --days 30 --seed 6 already"),
    });
  });

  test("two at a time make one", async () => {
    const api = await daybook().newProperty();
    const outcomes = await Promise.all([0, 1].map(() => run(at(api.secret), ["--people", "30", "--days", "20"])));
    expect(outcomes.map(({ code, output }) => (code === 0 ? "done" : output))).toEqual(["done", "done"]);
    const [said, other] = outcomes.map(({ output }) => countsIn(output));
    expect(said).toEqual(other);
    const types = [...(said?.keys() ?? [])].filter((name) => name.includes("."));
    await eventually(async () => {
      expect([...(await countsOf(api, types))]).toEqual(types.map((type) => [type, said?.get(type)]));
      return true;
    });
  });

  test("what it cannot fill it says in a line", async () => {
    const live = await daybook().newProperty({ mode: Mode.LIVE });
    const unknown = `sk_test_${"u".repeat(40)}`;
    const noDaybook = await mkdtemp(join(dataDir, "running-"));
    await writeFile(join(noDaybook, "secrets.json"), JSON.stringify({ testKey: unknown }));
    const running = { public_url: daybook().baseUrl, services_url: "", internal_token: "" };
    await writeFile(join(noDaybook, "connection.json"), JSON.stringify(running));
    const cases: [Record<string, string>, string[], number, string][] = [
      [at(live.secret), [], 1, "DAYBOOK_KEY is a key of real data"],
      [at("secret"), [], 1, "DAYBOOK_KEY is no key of Daybook"],
      [at(unknown), [], 1, "does not know the key"],
      [{ DAYBOOK_URL: daybook().baseUrl }, [], 1, "DAYBOOK_KEY is not set"],
      [{ ...at(unknown), DAYBOOK_URL: "daybook" }, [], 1, "DAYBOOK_URL must be an address"],
      [{ ...at(unknown), DAYBOOK_URL: "http://127.0.0.1:9" }, [], 1, "No Daybook answers at http://127.0.0.1:9"],
      [{}, [], 1, "Begin one with npm start"],
      // Found as that of npm start, with a key that the database does not know.
      [{ DATA_DIR: noDaybook }, [], 1, `${daybook().baseUrl} does not know the key`],
      [{}, ["--people", "3"], 2, "--people is a whole number from 10"],
      [{}, ["--persons", "30"], 2, "--persons"],
    ];
    const outcomes = await Promise.all(cases.map(([env, words]) => run(env, words)));
    for (const [index, { code, output }] of outcomes.entries()) {
      expect([code, output]).toEqual([cases[index]?.[2], expect.stringContaining(cases[index]?.[3] ?? "")]);
      expect(output).not.toMatch(/ at .*\.ts:/);
    }
    expect((await live.get("/v1/profiles")).body.data).toEqual([]);
  });
});
