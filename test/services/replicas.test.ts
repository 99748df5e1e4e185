/** Calls to a service with several replicas. Their addresses are those of the loopback network, which Linux has. */
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HealthService } from "#proto/daybook/common/v1/health_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { lookUpIntervalMs } from "#shared/rpc/sessions.ts";
import { http2Transport } from "#shared/rpc/transport.ts";
import { version } from "#shared/process/version.ts";
import { describeProcesses } from "../../gateway/processes.ts";
import { describeOnMesh } from "../support/daybook.ts";
import { eventually, freePort, startNode, type RunningProcess } from "../support/processes.ts";

const credential = "a credential of replicas in tests";
const [one, two, three] = ["127.0.0.1", "127.0.0.2", "127.0.0.3"] as const;
const callers = 10;

let owner: Owner;
let port: number;
/** What the name of the service stands for. */
let addresses: string[];
beforeEach(async () => {
  owner = new Owner();
  port = await freePort();
});
afterEach(() => owner.close());

async function start(host: string, delayMs = 10): Promise<RunningProcess> {
  const env = { HOST: host, PORT: String(port), CREDENTIAL: credential, DELAY_MS: String(delayMs) };
  const replica = owner.own(startNode("test/support/replica.process.ts", env));
  await eventually(() => (replica.output().includes("serving") ? true : undefined), { explain: replica.output });
  return replica;
}

interface Load {
  /** The number of calls that each address has answered. */
  answered: Map<string, number>;
  failures: unknown[];
  /** Waits until so many more calls are answered. */
  more: (calls: number) => Promise<void>;
  /** Ends the load, and waits for the last calls. */
  stop: () => Promise<void>;
}

/** Calls the service from `atOnce` callers, each without a rest. */
function load({ timeoutMs = 10_000, atOnce = callers } = {}): Load {
  const resolve = async (): Promise<string[]> => addresses;
  const client = createClient(HealthService, http2Transport(`http://service.test:${port}`, credential, resolve));
  const answered = new Map<string, number>();
  const failures: unknown[] = [];
  let total = 0;
  const over = new AbortController();
  const calling = Array.from({ length: atOnce }, async () => {
    while (!over.signal.aborted) {
      let replica = "";
      try {
        await client.checkHealth({}, { timeoutMs, onHeader: (header) => (replica = header.get("x-replica") ?? "") });
        answered.set(replica, (answered.get(replica) ?? 0) + 1);
        total++;
      } catch (error) {
        failures.push(error);
      }
    }
  });
  const stop = async (): Promise<void> => {
    over.abort();
    await Promise.all(calling);
  };
  owner.defer(stop);
  return {
    answered,
    failures,
    async more(calls) {
      const wanted = total + calls;
      await eventually(() => (total >= wanted ? true : undefined), { explain: () => String(failures.at(-1)) });
    },
    stop,
  };
}

test("two replicas get 40 to 60 % of the calls each", async () => {
  await Promise.all([one, two].map((host) => start(host)));
  addresses = [one, two];
  // Of several callers a replica with more processor time would get more.
  const { answered, failures, more, stop } = load({ atOnce: 1 });
  await more(500);
  await stop();
  expect(failures).toEqual([]);
  const counts = [one, two].map((host) => answered.get(host) ?? 0);
  const all = counts.reduce((sum, each) => sum + each);
  for (const own of counts) expect([counts, own / all > 0.4 && own / all < 0.6]).toEqual([counts, true]);
});

test("calls to a name go on when a replica is killed, but for those that it had", async () => {
  const replicas = await Promise.all([one, two].map((host) => start(host)));
  addresses = [one, two];
  const { answered, failures, more, stop } = load();
  await more(200);
  replicas[1]?.child.kill("SIGKILL");
  await replicas[1]?.ended;
  await more(200);
  const lost = failures.length;
  // A half of the callers, and one more where the halves are not even.
  expect(lost).toBeLessThanOrEqual(callers / 2 + 1);
  await start(two);
  const before = answered.get(two) ?? 0;
  await eventually(() => ((answered.get(two) ?? 0) > before ? true : undefined));
  await stop();
  expect(failures.length).toBe(lost);
});

test("no call is lost when replicas stop in order, one after the other, and come again", async () => {
  const replicas = await Promise.all([one, two].map((host) => start(host)));
  addresses = [one, two];
  const { answered, failures, more, stop } = load();
  for (const [index, host] of [one, two, one, two].entries()) {
    await more(100);
    const replica = replicas[index % 2];
    replica?.child.kill("SIGTERM");
    expect(await replica?.ended).toEqual({ code: 0, signal: null });
    await more(100);
    replicas[index % 2] = await start(host);
    const before = answered.get(host) ?? 0;
    await eventually(() => ((answered.get(host) ?? 0) > before ? true : undefined));
  }
  await stop();
  expect(failures).toEqual([]);
});

test("a new replica gets calls within the interval of look-ups, and one that left its name gets none", async () => {
  await Promise.all([one, two, three].map((host) => start(host)));
  addresses = [one, two];
  const { answered, failures, more, stop } = load();
  await more(100);
  addresses = [two, three];
  const changedAtMs = performance.now();
  await eventually(() => (answered.get(three) ? true : undefined));
  // Once more as long, because the machine may be busy.
  expect(performance.now() - changedAtMs).toBeLessThan(2 * lookUpIntervalMs);
  // Calls that were under way have ended.
  await more(100);
  const before = answered.get(one);
  await more(200);
  await stop();
  expect(answered.get(one)).toBe(before);
  expect(failures).toEqual([]);
});

test("a replica that hangs is left after a second, and gets calls again when it goes on", async () => {
  const replicas = await Promise.all([one, two].map((host) => start(host)));
  addresses = [one, two];
  const { answered, failures, more, stop } = load({ timeoutMs: 3_000 });
  await more(200);
  const stuck = replicas[1]?.child;
  stuck?.kill("SIGSTOP");
  await sleep(1_500);
  const before = answered.get(two) ?? 0;
  await more(500);
  expect(answered.get(two)).toBe(before);
  // Those that it had run into their deadline; the same callers find the other one from then on.
  expect(failures.length).toBeLessThanOrEqual(callers);
  // Longer than until the connection is given up. While the other one is silent for a second too, as on a machine that
  // has no time for it, calls may find this one again; otherwise each caller would lose five calls.
  await sleep(16_000);
  expect(failures.length).toBeLessThanOrEqual(2 * callers);
  stuck?.kill("SIGCONT");
  await eventually(() => ((answered.get(two) ?? 0) > before ? true : undefined));
  await stop();
});

test("addresses can be listed, and the name that calls go to stays the same", async () => {
  await Promise.all([one, three].map((host) => start(host)));
  const urls = [one, two, three].map((host) => `http://${host}:${port}`);
  const client = createClient(HealthService, http2Transport(urls, credential));
  const seen: (string | null)[] = [];
  for (let turn = 0; turn < 6; turn++) {
    await client.checkHealth({}, { onHeader: (header) => seen.push(header.get("x-replica")) });
  }
  // Nobody listens at the second.
  expect(seen).toEqual([one, three, three, one, three, one].map(() => expect.any(String)));
  expect(new Set(seen)).toEqual(new Set([one, three]));
});

test("a name without an address is an error that says so", async () => {
  const resolve = async (): Promise<string[]> => [];
  const client = createClient(HealthService, http2Transport("http://service.test:1", credential, resolve));
  await expect(client.checkHealth({})).rejects.toThrow("no address of http://service.test:1 takes a connection");
});

test("every replica is asked who it is, and one that hangs or is gone is not ready", async () => {
  const replicas = await Promise.all([one, two, three].map((host) => start(host)));
  addresses = [one, two, three];
  const transport = http2Transport(`http://service.test:${port}`, credential, async () => addresses);
  const nowhere = http2Transport(`http://nowhere.test:${port}`, credential, async () => {
    throw new Error("no such name");
  });
  const transports = {
    identity: transport,
    profiles: nowhere,
    events: nowhere,
    metrics: nowhere,
    webhooks: nowhere,
  };
  const readyOf = async () =>
    (await describeProcesses(transports)).map(({ name, address, ready }) => [name, address, ready]);
  const others = ["event", "metric", "profile", "webhook"].map((name) => [name, undefined, false]);
  const [gateway, first, second, third] = [
    ["gateway", undefined, true],
    ...[one, two, three].map((host) => ["identity", `http://${host}:${port}`, true]),
  ];
  const isAbove = (row: unknown[] | undefined): unknown[] => [row?.[0], row?.[1], false];
  const [before, , after] = [others.slice(0, 1), others, others.slice(1)];
  expect(await readyOf()).toEqual([gateway, ...before, first, second, third, ...after]);
  replicas[1]?.child.kill("SIGSTOP");
  owner.defer(async () => void replicas[1]?.child.kill("SIGCONT"));
  replicas[2]?.child.kill("SIGKILL");
  await replicas[2]?.ended;
  const asked = performance.now();
  expect(await readyOf()).toEqual([gateway, ...before, first, isAbove(second), isAbove(third), ...after]);
  expect(performance.now() - asked).toBeLessThan(10_000);
  for (const { ready, reason } of await describeProcesses(transports))
    expect(ready || (reason ?? "") !== "").toBe(true);
});

describeOnMesh("processes", (daybook) => {
  test("say their name, version, id and begin", async () => {
    const processes = await daybook().clients.describeProcesses();
    expect(processes.map(({ name }) => name)).toEqual(["gateway", "event", "identity", "metric", "profile", "webhook"]);
    for (const { name, reason, ...process } of processes) {
      expect([name, reason]).toEqual([name, undefined]);
      expect(process).toMatchObject({ ready: true, version, instanceId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
      expect(Number(process.startedAt?.seconds)).toBeLessThanOrEqual(Date.now() / 1000);
    }
  });
});
