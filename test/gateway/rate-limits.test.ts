/** Rate limits that gateways keep together: several over one database, whose clock the tests drive. */
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { createRegistry, serveRpc } from "#shared/rpc/server.ts";
import { createGateway } from "../../gateway/app.ts";
import { createClients } from "../../gateway/clients.ts";
import { connectServices } from "../../gateway/config.ts";
import { createApi, type Answer, type Api } from "../support/api.ts";
import {
  describeEverywhere,
  describeOnMesh,
  singleProcessToken,
  startSingleProcess,
  type SingleProcess,
  type TestProperty,
} from "../support/daybook.ts";
import { eventually, freePort, startNode } from "../support/processes.ts";

const limit = 300;
// Under a 20-fold overload.
const overload = 20 * limit;

/** Sends so many requests, some at once, and gives the answers. */
async function hammer(api: Api, count: number, atOnce = 32): Promise<Answer[]> {
  const answers: Answer[] = [];
  let sent = 0;
  const work = async (): Promise<void> => {
    while (sent++ < count) answers.push(await api.get("/v1/revisions"));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return answers;
}

function admitted(answers: readonly Answer[]): number {
  const strange = answers.filter(({ status }) => status !== 200 && status !== 429);
  expect(strange.map(({ status, text }) => `${status} ${text}`)).toEqual([]);
  return answers.filter(({ status }) => status === 200).length;
}

const remainingOf = ({ headers }: Answer): number => Number(headers.get("ratelimit-remaining"));
const rateOf = ({ headers }: Answer): (string | null)[] =>
  ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map((name) => headers.get(name));

describe("several gateways", () => {
  // In the middle of a window, of a time that no clock of this machine has.
  let now = 0;
  const clock = { nowMicros: () => now };
  const nextWindow = (): void => {
    now += 60_000_000;
  };
  let owner: Owner;
  let first: SingleProcess;
  let key: TestProperty;
  beforeEach(async () => {
    now = Date.UTC(2030, 0, 1, 0, 0, 30) * 1000;
    owner = new Owner();
    first = await startSingleProcess(owner, { clock });
    key = await first.newProperty({ rateLimits: { ordinary: limit } });
  });
  afterEach(() => owner.close());

  /** Another Daybook over the same database, and a client of it with the same key. */
  const startSecond = async (secondOwner: Owner): Promise<Api> => {
    const { baseUrl } = await startSingleProcess(secondOwner, { clock, databaseUrl: first.databaseUrl });
    return createApi(baseUrl, key.secret);
  };

  test("admit 95 to 100 % of a limit between them, and never more, in each window", async () => {
    const second = await startSecond(owner);
    for (let window = 0; window < 2; window++) {
      const answers = await Promise.all([hammer(key, overload / 2), hammer(second, overload / 2)]);
      const [ofFirst = 0, ofSecond = 0] = answers.map(admitted);
      expect(ofFirst + ofSecond).toBeGreaterThanOrEqual(0.95 * limit);
      expect(ofFirst + ofSecond).toBeLessThanOrEqual(limit);
      expect(Math.min(ofFirst, ofSecond)).toBeGreaterThan(0);
      expect(answers.flat().every((answer) => remainingOf(answer) >= 0)).toBe(true);
      nextWindow();
    }
  });

  test("leave little with one of them that has few requests", async () => {
    const second = await startSecond(owner);
    const few = admitted(await hammer(second, 5, 1));
    const many = admitted(await hammer(key, overload));
    expect(few).toBe(5);
    expect(few + many).toBeGreaterThanOrEqual(0.95 * limit);
    expect(few + many).toBeLessThanOrEqual(limit);
  });

  test("give back what they do not need, for as long as the window lasts", async () => {
    const second = await startSecond(owner);
    let total = admitted(await hammer(second, 1));
    await eventually(
      async () => {
        total += admitted(await hammer(key, 100));
        expect(total).toBeLessThanOrEqual(limit);
        return total === limit ? true : undefined;
      },
      { explain: () => `${total} requests were admitted` },
    );
  });

  test("give all back when they are closed", async () => {
    const secondOwner = new Owner();
    const second = await startSecond(secondOwner);
    expect(admitted(await hammer(second, 1))).toBe(1);
    await secondOwner.close();
    expect(admitted(await hammer(key, 2 * limit))).toBe(limit - 1);
  });

  /** The services of the first, for gateways elsewhere. */
  const serveFirst = (port: number) =>
    serveRpc({
      routes: first.routes,
      credentials: [singleProcessToken],
      host: "127.0.0.1",
      port,
      log: createLog("test", "silent"),
      registry: createRegistry(),
    });

  test("one that is killed takes at most its share along, and nothing of the next window", async () => {
    const { address } = owner.own(await serveFirst(0));
    const port = await freePort();
    const other = owner.own(
      startNode("gateway/main.ts", {
        HOST: "127.0.0.1",
        PORT: String(port),
        INTERNAL_PORT: "0",
        INTERNAL_TOKEN: singleProcessToken,
        IDENTITY_URL: address,
        PROFILE_URL: address,
        EVENT_URL: address,
        METRIC_URL: address,
      }),
    );
    const second = createApi(`http://127.0.0.1:${port}`, key.secret);
    const [answer] = await eventually(async () => hammer(second, 1), { explain: other.output });
    // Its own clock is years behind, so it goes by that of the services.
    expect(answer && [answer.status, ...rateOf(answer).slice(0, 2)]).toEqual([200, "300", "299"]);
    other.child.kill("SIGKILL");
    await other.ended;
    const rest = admitted(await hammer(key, 2 * limit));
    expect(1 + rest).toBeGreaterThanOrEqual(0.95 * limit);
    expect(1 + rest).toBeLessThanOrEqual(limit);
    nextWindow();
    expect(admitted(await hammer(key, 2 * limit))).toBe(limit);
  });

  /** A gateway that reaches the services of the first at a port. */
  const startGateway = async (port: number): Promise<Api> => {
    const url = `http://127.0.0.1:${port}`;
    const gateway = await createGateway({
      clients: createClients(connectServices(url, singleProcessToken)),
      clock,
      log: createLog("test", "silent"),
      registry: createRegistry(),
      limits: { ordinary: 1_000, backfill: 1_000 },
      secret: singleProcessToken,
    });
    owner.defer(() => gateway.close());
    return createApi(await gateway.listen({ host: "127.0.0.1", port: 0 }), key.secret);
  };

  test("one with requests has its share of the next window before that begins", async () => {
    const client = new pg.Client({ connectionString: first.databaseUrl });
    await client.connect();
    owner.defer(() => client.end());
    const port = await freePort();
    const rpc = await serveFirst(port);
    const api = await startGateway(port);
    now += 25_000_000;
    expect(admitted(await hammer(api, 1))).toBe(1);
    await eventually(async () => {
      const { rows } = await client.query("SELECT FROM identity.rate_windows WHERE starts_at = '2030-01-01T00:01Z'");
      return rows.length > 0 ? true : undefined;
    });
    // From here on there is nobody to ask.
    await rpc.close();
    nextWindow();
    expect(rateOf((await hammer(api, 1))[0] as Answer)).toEqual(["300", "299", "5"]);
  });

  test("one that is cut off admits what it has leased, then says that it cannot tell, and is well when it is back", async () => {
    const port = await freePort();
    let rpc = await serveFirst(port);
    const second = await startGateway(port);
    expect(admitted(await hammer(second, 1))).toBe(1);
    await rpc.close();
    const cutOff = await hammer(second, 50, 1);
    const alone = cutOff.filter(({ status }) => status === 200).length;
    expect(alone).toBeGreaterThan(0);
    expect(cutOff.slice(0, alone).every(({ status }) => status === 200)).toBe(true);
    for (const answer of cutOff.slice(alone)) {
      expect([answer.status, answer.body.error.code]).toEqual([503, "service_unavailable"]);
      expect(answer.headers.get("retry-after")).toBe("1");
      expect(remainingOf(answer)).toBe(limit - 1 - alone);
    }
    rpc = owner.own(await serveFirst(port));
    await eventually(async () => ((await hammer(second, 1))[0]?.status === 200 ? true : undefined));
    const rest = admitted([...(await hammer(second, overload / 2)), ...(await hammer(key, overload / 2))]);
    expect(1 + alone + 1 + rest).toBeGreaterThanOrEqual(0.95 * limit);
    expect(1 + alone + 1 + rest).toBeLessThanOrEqual(limit);
  });
});

describe("the last use of a key", () => {
  const owner = new Owner();
  afterAll(() => owner.close());

  test("is told when the gateway is closed", async () => {
    let now = Date.UTC(2030, 0, 1) * 1000;
    const clock = { nowMicros: () => now };
    const observer = await startSingleProcess(owner, { clock });
    const closing = new Owner();
    const { baseUrl } = await startSingleProcess(closing, { clock, databaseUrl: observer.databaseUrl });
    const key = await observer.newProperty();
    const lastUse = async () => {
      const { key: found } = await observer.clients.identity.getKey({ propertyId: key.propertyId, keyId: key.keyId });
      return found?.lastUsedAt && Number(found.lastUsedAt.seconds) * 1_000_000;
    };
    const api = createApi(baseUrl, key.secret);
    expect(await lastUse()).toBeUndefined();
    await api.get("/v1/revisions");
    const told = await eventually(lastUse);
    expect(told).toBe(now);
    now += 10_000_000;
    await api.get("/v1/nowhere");
    await api.get("/v1/revisions");
    await closing.close();
    expect(await lastUse()).toBe(now);
  });
});

// Of one gateway: several keep some of a limit each, of which one may have none left first.
describeOnMesh("a limit of a key's own", (daybook) => {
  /** Tries with a new key until all of it happened in one window. */
  async function inOneWindow(
    rateLimits: { ordinary?: number; backfill?: number },
    run: (api: TestProperty) => Promise<Answer[]>,
  ): Promise<Answer[]> {
    return eventually(async () => {
      const answers = await run(await daybook().newProperty({ rateLimits }));
      const resets = answers.map(({ headers }) => Number(headers.get("ratelimit-reset")));
      return resets.every((reset, index) => index === 0 || reset <= (resets[index - 1] ?? 0) + 30)
        ? answers
        : undefined;
    });
  }

  test("admits exactly so many of two hundred requests at once", async () => {
    const answers = await inOneWindow({ ordinary: 100 }, (api) => hammer(api, 200, 200));
    expect(admitted(answers)).toBe(100);
    // Each request that was admitted saw another number.
    const seen = answers.filter(({ status }) => status === 200).map(remainingOf);
    expect(new Set(seen).size).toBe(100);
  });

  test("is said truly on every answer to the key", async () => {
    const event = { type: "a.b", identifier: { type: "external_id", value: "1" }, properties: {} };
    const answers = await inOneWindow({ ordinary: 6, backfill: 2 }, async (api) => [
      await api.get("/v1/revisions"),
      await api.get("/v1/revisions?colour=red"),
      await api.get("/v1/metrics/mtr_01h00000000000000000000000"),
      await api.post("/v1/events/batch", "{"),
      await api.post("/v1/events/batch", { events: [event], backfill: true }),
      await api.post("/v1/events/batch", { events: [event] }),
      await api.post("/v1/events", event),
      await api.post("/v1/events", event),
      await api.post("/v1/events/batch", "{"),
      await api.post("/v1/events/batch", { events: [event], backfill: true }),
      await api.post("/v1/events/batch", { events: [event], backfill: true }),
    ]);
    expect(answers.map((answer) => [answer.status, ...rateOf(answer).slice(0, 2)])).toEqual([
      [200, "6", "5"],
      [400, "6", "4"],
      [404, "6", "3"],
      [400, "6", "2"],
      [200, "2", "1"],
      [200, "6", "1"],
      [201, "6", "0"],
      [429, "6", "0"],
      [429, "6", "0"],
      [200, "2", "0"],
      [429, "2", "0"],
    ]);
    for (const { headers, status, body } of answers) {
      const reset = Number(headers.get("ratelimit-reset"));
      expect(reset).toBeGreaterThan(0);
      expect(reset).toBeLessThanOrEqual(60);
      expect(headers.get("retry-after")).toBe(status === 429 ? String(reset) : null);
      if (status === 429) expect(body.error.retry_after_ms).toBe(reset * 1000);
    }
  });
});

describeEverywhere("an answer without a good key", (daybook) => {
  test("has rate headers all the same", async () => {
    const api = await daybook().newProperty();
    const stranger = createApi(daybook().baseUrl, "sk_test_guess");
    const answers = [
      await api.get("/v1/nowhere"),
      await api.patch("/v1/metrics", {}),
      await api.get("/openapi.json"),
      await stranger.get("/v1/metrics"),
      await createApi(daybook().baseUrl).get("/v1/metrics"),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 405, 200, 401, 401]);
    for (const answer of answers) {
      for (const value of rateOf(answer)) expect(value).toMatch(/^\d+$/);
    }
  });
});

describe("over time", () => {
  const owner = new Owner();
  const registry = createRegistry();
  let now = Date.UTC(2030, 0, 1, 0, 0, 55) * 1000;
  let daybook: SingleProcess;
  beforeAll(async () => {
    daybook = await startSingleProcess(owner, { clock: { nowMicros: () => now }, registry });
  });
  afterAll(() => owner.close());

  /** Calls to services so far. */
  const countCalls = async (): Promise<number> => {
    const { values } = (await registry.getSingleMetric("daybook_rpc_duration_seconds")?.get()) ?? { values: [] };
    const counts = values.filter((value) => "metricName" in value && String(value.metricName).endsWith("_count"));
    return counts.reduce((sum, { value }) => sum + value, 0);
  };

  test("requests make no round trips of their own, be they admitted or refused", async () => {
    const api = await daybook.newProperty({ rateLimits: { ordinary: 2_000 } });
    const before = await countCalls();
    expect(admitted(await hammer(api, 1_500))).toBe(1_500);
    const between = await countCalls();
    expect(between).toBeGreaterThan(before);
    expect(between - before).toBeLessThan(150);
    expect(admitted(await hammer(api, 500))).toBe(500);
    const full = await countCalls();
    expect(admitted(await hammer(api, 1_500))).toBe(0);
    expect((await countCalls()) - full).toBeLessThan(100);
  });

  test("each window has its limit, and begins with the minute", async () => {
    const api = await daybook.newProperty({ rateLimits: { ordinary: 10 } });
    for (let minute = 0; minute < 3; minute++) {
      const answers = await hammer(api, 30, 30);
      expect(admitted(answers)).toBe(10);
      expect(answers.every(({ headers }) => headers.get("ratelimit-reset") === (minute === 0 ? "5" : "60"))).toBe(true);
      now = Math.ceil((now + 1) / 60_000_000) * 60_000_000;
    }
  });
});
