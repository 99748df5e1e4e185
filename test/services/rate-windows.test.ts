/** Leases of rate windows, as the identity service grants them. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KeyLeaseWishSchema, RateWindow } from "#proto/daybook/identity/v1/identity_pb.ts";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { createLocalBus } from "#shared/bus/local.ts";
import { openDatabase } from "#shared/database/postgres.ts";
import { createReads } from "#shared/database/reads.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { toTimestamp } from "#shared/values/time.ts";
import { forget } from "../../services/identity/maintenance.ts";
import { describeEverywhere, startSingleProcess, testCall, type TestDaybook } from "../support/daybook.ts";

const minute = 60_000_000;
const thisMinute = (): number => Math.floor((Date.now() * 1000) / minute) * minute;

type KeyWish = MessageInitShape<typeof KeyLeaseWishSchema>;

describeEverywhere("leases", (daybook) => {
  const newKey = (ordinary?: number) =>
    daybook().newProperty(ordinary === undefined ? {} : { rateLimits: { ordinary } });

  const wishFor = (
    { propertyId, keyId }: { propertyId: string; keyId: string },
    startsAt: number,
    wanted: number,
    {
      window = RateWindow.ORDINARY,
      limitDefault = 1_000,
      limitUnknown = false,
    }: { window?: RateWindow; limitDefault?: number; limitUnknown?: boolean } = {},
  ): KeyWish => ({
    propertyId,
    keyId,
    wish: { window, startsAt: toTimestamp(startsAt), wanted, limitDefault, limitUnknown },
  });
  const leaseAll = async (wishes: KeyWish[]) =>
    (await daybook().clients.identity.leaseRequests({ wishes }, testCall)).leases;
  const giveBack = (key: { propertyId: string; keyId: string }, startsAt: number, count: number) =>
    daybook().clients.identity.returnRequests(
      {
        unused: [
          {
            propertyId: key.propertyId,
            keyId: key.keyId,
            window: RateWindow.ORDINARY,
            startsAt: toTimestamp(startsAt),
            count,
          },
        ],
      },
      testCall,
    );

  test("are what is wished, but at most a quarter of what is left and never more than that", async () => {
    const key = await newKey(100);
    // The next window can be leased too, and is not over before the test is.
    const at = thisMinute() + minute;
    const seen = [];
    for (const wanted of [10, 1_000, 1_000, 0]) seen.push((await leaseAll([wishFor(key, at, wanted)]))[0]);
    expect(seen.map((lease) => [lease?.granted, lease?.left, lease?.limit])).toEqual([
      [10, 90, 100],
      [23, 67, 100],
      [17, 50, 100],
      [0, 50, 100],
    ]);
    let total = 50;
    for (let granted = 1; granted > 0;) {
      granted = (await leaseAll([wishFor(key, at, 1_000)]))[0]?.granted ?? 0;
      total += granted;
    }
    expect(total).toBe(100);
  });

  test("of fifty gateways at once, who give back and ask again, are together the limit", async () => {
    const key = await newKey(500);
    const at = thisMinute() + minute;
    const held = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        let mine = 0;
        let returns = index % 5 === 0 ? 5 : 0;
        for (let left = 1; left > 0;) {
          const [lease] = await leaseAll([wishFor(key, at, 1 + (index % 7))]);
          mine += lease?.granted ?? 0;
          ({ left } = lease ?? { left: 0 });
          if (returns > 0 && mine > 0) {
            returns--;
            mine--;
            await giveBack(key, at, 1);
          }
        }
        return mine;
      }),
    );
    const rest = await leaseAll([wishFor(key, at, 1_000)]);
    const total = held.reduce((sum, mine) => sum + mine, 0);
    expect(total + (rest[0]?.granted ?? 0) + (rest[0]?.left ?? 0)).toBe(500);
  });

  test("are of each key apart, by its own limit or that of all keys", async () => {
    const [own, other] = [await newKey(8), await newKey()];
    const at = thisMinute() + minute;
    const nobody = { propertyId: own.propertyId, keyId: other.keyId };
    const leases = await leaseAll([wishFor(other, at, 1_000), wishFor(nobody, at, 5), wishFor(own, at, 1_000)]);
    expect(leases.map(({ granted, left, limit }) => [granted, left, limit])).toEqual([
      [250, 750, 1_000],
      [0, 0, 1_000],
      [2, 6, 8],
    ]);
  });

  test("are at most a hundredth for who does not know the limit", async () => {
    const key = await newKey(150);
    const at = thisMinute() + minute;
    const [lease] = await leaseAll([wishFor(key, at, 64, { limitUnknown: true })]);
    expect([lease?.granted, lease?.left]).toEqual([2, 148]);
  });

  test("are of windows that are near, by the clock of the service", async () => {
    const key = await newKey();
    const leases = await leaseAll([
      wishFor(key, thisMinute() + 5 * minute, 5),
      wishFor(key, thisMinute() - 5 * minute, 5),
    ]);
    expect(leases.map(({ granted, left }) => [granted, left])).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  test("are refused where the wish is no wish", async () => {
    const key = await newKey();
    const at = thisMinute();
    const good = wishFor(key, at, 1);
    const bad: [KeyWish[], string][] = [
      [[], "parameter_missing"],
      [[good, good], "parameter_conflict"],
      [Array.from({ length: 501 }, () => good), "too_many_items"],
      [[{ ...good, keyId: "x" }], "invalid_id"],
      [[{ propertyId: key.propertyId, keyId: key.keyId }], "parameter_missing"],
      [[wishFor(key, at + 1, 1)], "parameter_invalid"],
      [[wishFor(key, at, -1)], "parameter_invalid"],
      [[wishFor(key, at, 1, { limitDefault: 0 })], "parameter_invalid"],
      [[wishFor(key, at, 1, { window: RateWindow.UNSPECIFIED })], "parameter_invalid"],
    ];
    for (const [wishes, code] of bad) {
      await expect(leaseAll(wishes)).rejects.toMatchObject({ code });
    }
    await expect(giveBack(key, at, 0)).rejects.toMatchObject({ code: "parameter_invalid" });
    const { identity } = daybook().clients;
    const use = { propertyId: key.propertyId, keyId: key.keyId, usedAt: toTimestamp(at) };
    await expect(identity.noteKeyUse({ uses: [use, use] }, testCall)).rejects.toMatchObject({
      code: "parameter_conflict",
    });
  });

  test("keep the latest time that a key was used", async () => {
    const key = await newKey();
    const { identity } = daybook().clients;
    const { propertyId, keyId } = key;
    const at = thisMinute() - minute;
    for (const usedAt of [at, at - minute, at + 1_000]) {
      await identity.noteKeyUse({ uses: [{ propertyId, keyId, usedAt: toTimestamp(usedAt) }] }, testCall);
    }
    const read = async () => (await identity.getKey({ propertyId, keyId }, testCall)).key?.lastUsedAt;
    expect(await read()).toEqual(toTimestamp(at + 1_000));
  });
});

const owner = new Owner();
let daybook: TestDaybook;
const now = Math.floor((Date.UTC(2030, 0, 1) * 1000) / minute) * minute;
beforeAll(async () => {
  daybook = await startSingleProcess(owner, { clock: { nowMicros: () => now } });
});
afterAll(() => owner.close());

test("windows that are long over are forgotten, and no others", async () => {
  const log = createLog("test", "error");
  const database = openDatabase({
    url: daybook.databaseUrl,
    applicationName: "test",
    connectionsMax: 1,
    log,
  });
  owner.defer(() => database.end());
  const key = await daybook.newProperty();
  await key.get("/v1/revisions");
  const forgetAt = (nowMicros: number) =>
    forget({
      database,
      reads: createReads(database, log),
      bus: createLocalBus(log),
      clock: { nowMicros: () => nowMicros },
      log,
      registry: createRegistry(),
    });
  const client = new pg.Client({ connectionString: daybook.databaseUrl });
  await client.connect();
  owner.defer(() => client.end());
  const count = async () => (await client.query("SELECT FROM identity.rate_windows")).rows.length;
  await forgetAt(now + 2 * minute);
  expect(await count()).toBe(1);
  await forgetAt(now + 10 * minute);
  expect(await count()).toBe(0);
});
