/**
 * Guesses of keys and access tokens: the address's window comes before the database, and a network of IPv6 is one
 * address.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { createApi, type Answer } from "../support/api.ts";
import { installApp, randomToken } from "../support/apps.ts";
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

const countLooks = async (): Promise<number> =>
  (await callsOf(registry, "AuthenticateKey")) + (await callsOf(registry, "AuthenticateToken"));

/** Asks with a key from an address, as a proxy says it. */
const ask = (secret: string, address: string): Promise<Answer> =>
  createApi(daybook.baseUrl, secret).get("/v1/revisions", { headers: { "x-forwarded-for": address } });
const guessKey = (): string => `sk_test_${randomBytes(20).toString("hex")}`;
let guesses = 0;
/** Every other is one of a token: they have one window. */
const guess = (address: string): Promise<Answer> => ask(++guesses % 2 === 0 ? randomToken() : guessKey(), address);
/** Makes secrets that are good and were never used, each with how many requests at once its own window admits. */
const secrets: readonly [name: string, admitted: number, make: () => Promise<string>][] = [
  ["a key", 4 * limit, async () => (await daybook.newProperty({ rateLimits: { ordinary: 20 * limit } })).secret],
  [
    "an access token",
    limit,
    async () => {
      const installation = await installApp(daybook, (await daybook.newProperty()).propertyId);
      return (await installation.newToken({ expiresAtMs: now / 1000 + 3_600_000 })).token;
    },
  ],
];
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

test.each(secrets)(
  "%s that is known goes on from there, and one that is not known is no better than a guess",
  async (_name, _admitted, make) => {
    nextMinute();
    const [known, unknown] = [await make(), await make()];
    expect((await ask(known, "192.0.2.2")).status).toBe(200);
    for (let turn = 0; turn < limit + 1; turn++) await guess("192.0.2.2");
    expect((await ask(known, "192.0.2.2")).status).toBe(200);
    expect((await ask(unknown, "192.0.2.2")).status).toBe(429);
    expect((await ask(unknown, "192.0.2.3")).status).toBe(200);
    expect((await ask(unknown, "192.0.2.2")).status).toBe(200);
  },
);

test.each(secrets)(
  "%s that is good takes nothing of the window, also when all of its requests come first and at once",
  async (_name, admitted, make) => {
    nextMinute();
    const secret = await make();
    const statuses = await statusesOf(Array.from({ length: admitted }, () => ask(secret, "192.0.2.4")));
    expect(new Set(statuses)).toEqual(new Set([200]));
    const { headers } = await guess("192.0.2.4");
    expect(headers.get("ratelimit-remaining")).toBe(String(limit - 1));
  },
);

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
