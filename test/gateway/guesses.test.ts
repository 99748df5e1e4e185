/** Guesses of keys: the address's window comes before the database, and a network of IPv6 is one address. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { createApi, type Answer } from "../support/api.ts";
import { callsOf } from "../support/counting.ts";
import { startSingleProcess, type SingleProcess } from "../support/daybook.ts";

const owner = new Owner();
const registry = createRegistry();
const limit = 50;
// Each test has a minute of its own.
let now = Date.UTC(2030, 0, 1, 0, 0, 30) * 1000;
let daybook: SingleProcess;
beforeAll(async () => {
  daybook = await startSingleProcess(owner, {
    registry,
    clock: { nowMicros: () => now },
    limits: { ordinary: limit, backfill: limit },
    edge: { trustedProxies: ["127.0.0.1"] },
    // Every use of a key is a look-up: what is remembered is older than that at once.
    callerAgeMsMax: 1,
  });
});
afterAll(() => owner.close());

const countLooks = (): Promise<number> => callsOf(registry, "AuthenticateKey");

/** Asks with a key from an address, as a proxy says it. */
const ask = (secret: string, address: string): Promise<Answer> =>
  createApi(daybook.baseUrl, secret).get("/v1/revisions", { headers: { "x-forwarded-for": address } });
const guess = (address: string): Promise<Answer> => ask(`sk_test_${randomBytes(20).toString("hex")}`, address);
const statusesOf = async (asking: Promise<Answer>[]): Promise<number[]> =>
  (await Promise.all(asking)).map(({ status }) => status);
const nextMinute = (): void => {
  now += 60_000_000;
};

test("no more guesses are looked up than the window admits, however many come at once", async () => {
  nextMinute();
  const before = await countLooks();
  const statuses = await statusesOf(Array.from({ length: 4 * limit }, () => guess("192.0.2.1")));
  expect(statuses.filter((status) => status === 401)).toHaveLength(limit);
  expect(statuses.filter((status) => status === 429)).toHaveLength(3 * limit);
  expect((await countLooks()) - before).toBe(limit);
});

test("a key that is known goes on from there, and one that is not known is no better than a guess", async () => {
  nextMinute();
  const [known, unknown] = [await daybook.newProperty(), await daybook.newProperty()];
  expect((await ask(known.secret, "192.0.2.2")).status).toBe(200);
  for (let turn = 0; turn < limit + 1; turn++) await guess("192.0.2.2");
  expect((await ask(known.secret, "192.0.2.2")).status).toBe(200);
  expect((await ask(unknown.secret, "192.0.2.2")).status).toBe(429);
  expect((await ask(unknown.secret, "192.0.2.3")).status).toBe(200);
  expect((await ask(unknown.secret, "192.0.2.2")).status).toBe(200);
});

test("a good key takes nothing of the window, also when two hundred of its requests come first and at once", async () => {
  nextMinute();
  const api = await daybook.newProperty({ rateLimits: { ordinary: 1_000 } });
  const statuses = await statusesOf(Array.from({ length: 200 }, () => ask(api.secret, "192.0.2.4")));
  expect(new Set(statuses)).toEqual(new Set([200]));
  const { headers } = await guess("192.0.2.4");
  expect(headers.get("ratelimit-remaining")).toBe(String(limit - 1));
});

test("all addresses of one /64 have one window", async () => {
  nextMinute();
  const statuses: number[] = [];
  for (let host = 0; host < limit + 5; host++)
    statuses.push((await guess(`2001:db8:0:1::${host.toString(16)}`)).status);
  expect(statuses.slice(limit)).toEqual(Array.from({ length: 5 }, () => 429));
  expect((await guess("2001:db8:0:2::1")).status).toBe(401);
});

test("what others than a trusted proxy say of the address does not count", async () => {
  nextMinute();
  const direct = await startSingleProcess(owner, {
    databaseUrl: daybook.databaseUrl,
    limits: { ordinary: 5, backfill: 5 },
  });
  const statuses: number[] = [];
  for (let host = 0; host < 7; host++) {
    const headers = { "x-forwarded-for": `192.0.2.${host}` };
    statuses.push((await createApi(direct.baseUrl, "none").get("/v1/revisions", { headers })).status);
  }
  // A minute of the clock may end between any two of them.
  expect(statuses).toContain(429);
});
