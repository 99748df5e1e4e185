/** Reads that nobody waits for end in PostgreSQL too, and what is cancelled is that read and never another. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createLog } from "#shared/process/log.ts";
import { openDatabase } from "#shared/database/postgres.ts";
import { createReads, type Reads } from "#shared/database/reads.ts";
import { eventually } from "../support/processes.ts";

const owner = new Owner();
const log = createLog("test", "fatal");
const applicationName = `reads-test-${process.pid}`;
const connectionsMax = 4;
let reads: Reads;
let observer: pg.Client;

beforeAll(async () => {
  const url = inject("databaseUrl");
  const pool = openDatabase({ url, applicationName, connectionsMax, log });
  owner.defer(() => pool.end());
  reads = createReads(pool, log);
  observer = new pg.Client({ connectionString: url });
  await observer.connect();
  owner.defer(() => observer.end());
});
afterAll(() => owner.close());

/** Statements under way on the connections for reads. */
async function running(): Promise<number> {
  const { rows } = await observer.query(
    "SELECT FROM pg_stat_activity WHERE application_name = $1 AND state = 'active'",
    [applicationName],
  );
  return rows.length;
}

test("a statement ends in PostgreSQL when nobody waits for it any more", async () => {
  const gone = new AbortController();
  const reading = reads.of("p", gone.signal).query({ text: "SELECT pg_sleep(60)" });
  await eventually(async () => ((await running()) === 1 ? true : undefined));
  gone.abort(new Error("gone"));
  await expect(reading).rejects.toThrow("gone");
  expect(await running()).toBe(0);
  const snapshot = new AbortController();
  const inSnapshot = reads.of("p", snapshot.signal).inSnapshot((tx) => tx.query({ text: "SELECT pg_sleep(60)" }));
  await eventually(async () => ((await running()) === 1 ? true : undefined));
  snapshot.abort(new Error("gone too"));
  await expect(inSnapshot).rejects.toThrow("gone too");
  expect(await running()).toBe(0);
});

test("a cancel never hits another statement", async () => {
  const rounds = 400;
  const lanes = 8;
  let cancelled = 0;
  let answered = 0;
  // Cancels come at every moment of a short statement: before it, within it and after it. Beside them run statements
  // that nobody cancels.
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (let round = 0; round < rounds; round++) {
        const gone = new AbortController();
        const marker = `${lane} ${round}`;
        const reader = reads.of(`p${lane % 3}`, lane % 2 === 0 ? gone.signal : undefined);
        const reading = reader.query({
          text: "SELECT $1::text AS marker, pg_sleep($2)",
          values: [marker, ((round % 5) * 0.4) / 1000],
        });
        if (lane % 2 === 0) void sleep(round % 4).then(() => gone.abort(new Error("gone")));
        try {
          const { rows } = await reading;
          expect(rows).toMatchObject([{ marker }]);
          answered++;
        } catch (error) {
          expect((error as Error).message).toBe("gone");
          expect(gone.signal.aborted).toBe(true);
          cancelled++;
        }
      }
    }),
  );
  expect(cancelled + answered).toBe(rounds * lanes);
  expect(cancelled).toBeGreaterThan(0);
  expect(answered).toBeGreaterThanOrEqual((rounds * lanes) / 2);
  // The connections are the same ones as before, and good.
  expect(await running()).toBe(0);
});

test("slow reads of one property leave connections for another", async () => {
  const gone = new AbortController();
  const slow = Array.from({ length: 40 }, () => reads.of("loud", gone.signal).query({ text: "SELECT pg_sleep(60)" }));
  const settled = Promise.allSettled(slow);
  await eventually(async () => ((await running()) > 0 ? true : undefined));
  for (let index = 0; index < 20; index++) {
    await reads.of("quiet").query({ text: "SELECT 1" });
  }
  expect(await running()).toBe(connectionsMax / 2);
  gone.abort(new Error("gone"));
  await settled;
  expect(await running()).toBe(0);
});
