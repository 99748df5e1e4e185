/** What one property asks for takes nothing from another, and what nobody waits for takes nothing at all. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { expect, test } from "vitest";
import { Interval, Measurement } from "#proto/daybook/metric/v1/metric_pb.ts";
import { systemCall } from "#shared/rpc/interceptors.ts";
import { parseDateTime, toTimestamp } from "#shared/values/time.ts";
import { describeEverywhere, type TestProperty } from "../support/daybook.ts";
import { newEmail } from "../support/people.ts";
import { eventually } from "../support/processes.ts";
import { aggregatesPath, recordAll } from "../support/recount.ts";

const from = "2026-01-01T00:00:00Z";
const to = "2026-02-01T00:00:00Z";
const type = "order.completed";

describeEverywhere("fairness", (daybook) => {
  test("beside 40 aggregates of one property all single writes of another are recorded, and its reads are answered", async () => {
    const loud = await daybook().newProperty();
    const quiet = await daybook().newProperty();
    const keys = Array.from({ length: 10 }, (_, index) => `key${index}`);
    const properties = Object.fromEntries(keys.map((key) => [key, key]));
    const identifier = newEmail();
    const events = Array.from({ length: 5_000 }, () => ({ type, identifier, properties, occurred_at: from }));
    await recordAll(loud, events);
    const filter = Object.fromEntries(keys.map((key) => [`properties.${key}`, key]));
    await eventually(async () => {
      const { status } = await loud.post(aggregatesPath, { metric: type, from, to });
      return status === 200 ? true : undefined;
    });
    const loudness = new AbortController();
    const statuses: number[] = [];
    const asking = Array.from({ length: 40 }, async () => {
      while (!loudness.signal.aborted) {
        const answer = await loud.post(aggregatesPath, { metric: type, from, to, filter });
        statuses.push(answer.status);
        if (answer.status === 200) expect(answer.body.data.series[0].count).toEqual([events.length]);
        if (answer.status === 429) {
          expect(answer.body.error).toMatchObject({ code: "rate_limited", retryable: true, retry_after_ms: 1000 });
          expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
        }
      }
    });
    const writes = 40;
    try {
      await eventually(() => (statuses.length > 0 ? true : undefined));
      for (let index = 0; index < writes; index++) {
        const written = await quiet.post("/v1/events", { type, identifier: newEmail(), properties: { index } });
        expect(written.status, written.text).toBe(201);
        const read = await quiet.get(`/v1/events/${written.body.data.id}`);
        expect(read.status, read.text).toBe(200);
      }
    } finally {
      loudness.abort();
      await Promise.all(asking);
    }
    const listed = await quiet.get("/v1/events?page[limit]=100");
    expect(listed.body.data.filter((event: { type: string }) => event.type === type).length).toBe(writes);
    expect(statuses).toContain(200);
  });

  test("more aggregates than may wait are refused with 429, and say when to come again", async () => {
    const api = await propertyWithMetric();
    await withLock(daybook().databaseUrl, async () => {
      const gone = new AbortController();
      const asking = Array.from({ length: 60 }, () => ask(api.secret, "x", gone.signal));
      const refused = await Promise.any(
        asking.map(async (answer) => ((await answer).status === 429 ? await answer : Promise.reject(new Error("no")))),
      );
      expect(refused.headers.get("retry-after")).toBe("1");
      gone.abort();
      await Promise.allSettled(asking);
    });
  });

  test("an aggregate ends in PostgreSQL when its client goes away", async () => {
    const api = await propertyWithMetric();
    const marker = `m${randomBytes(8).toString("hex")}`;
    await withLock(daybook().databaseUrl, async (client) => {
      const gone = new AbortController();
      const asking = ask(api.secret, marker, gone.signal);
      await eventually(async () => ((await running(client, marker)) === 1 ? true : undefined));
      gone.abort();
      await expect(asking).rejects.toThrow();
      await eventually(async () => ((await running(client, marker)) === 0 ? true : undefined), { timeoutMs: 5_000 });
    });
    expect((await ask(api.secret, marker)).status).toBe(200);
  });

  test("an aggregate ends in PostgreSQL when its deadline passes", async () => {
    const api = await propertyWithMetric();
    const marker = `m${randomBytes(8).toString("hex")}`;
    await withLock(daybook().databaseUrl, async (client) => {
      const asking = daybook().clients.metrics.aggregateMetric(
        {
          propertyId: api.propertyId,
          metric: { case: "name", value: type },
          measurements: [Measurement.COUNT],
          interval: Interval.UNSPECIFIED,
          from: toTimestamp(parseDateTime(from) ?? 0),
          to: toTimestamp(parseDateTime(to) ?? 0),
          timezone: "UTC",
          conditions: [{ field: `properties.${marker}`, valueJson: "1" }],
        },
        systemCall("test", 1_500),
      );
      const failing = Promise.allSettled([asking]);
      await eventually(async () => ((await running(client, marker)) === 1 ? true : undefined));
      expect((await failing)[0]?.status).toBe("rejected");
      await eventually(async () => ((await running(client, marker)) === 0 ? true : undefined), { timeoutMs: 5_000 });
    });
  });

  /** A property whose one event is counted: while the events are locked no more are. */
  async function propertyWithMetric(): Promise<TestProperty> {
    const api = await daybook().newProperty();
    await recordAll(api, [{ type, identifier: newEmail(), properties: {}, occurred_at: from }]);
    await eventually(async () => ((await ask(api.secret, "x")).status === 200 ? true : undefined));
    return api;
  }

  /** Asks for events by a property of this name, and waits for the answer as long as `signal` says. */
  function ask(secret: string, key: string, signal?: AbortSignal): Promise<Response> {
    return fetch(daybook().baseUrl + aggregatesPath, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ metric: type, from, to, filter: { [`properties.${key}`]: 1 } }),
      ...(signal ? { signal } : {}),
    });
  }
});

/** Holds the events, so that every statement that reads them waits. */
async function withLock(databaseUrl: string, work: (observer: pg.Client) => Promise<void>): Promise<void> {
  const clients = [0, 1].map(() => new pg.Client({ connectionString: databaseUrl }));
  const [locker, observer] = clients as [pg.Client, pg.Client];
  await Promise.all(clients.map((client) => client.connect()));
  try {
    await locker.query("BEGIN; LOCK TABLE event.events IN ACCESS EXCLUSIVE MODE");
    await work(observer);
  } finally {
    await locker.query("ROLLBACK");
    await Promise.all(clients.map((client) => client.end()));
  }
}

/** Statements under way that name a key; it is a column of theirs. */
async function running(observer: pg.Client, key: string): Promise<number> {
  const { rows } = await observer.query(
    "SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%\"' || $1 || '\"%' AND pid <> pg_backend_pid()",
    [key],
  );
  return rows.length;
}
