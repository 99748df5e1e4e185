/** How a quiet property is affected by a loud one: by a key at 20 times its limit, and by heavy aggregates. */
import { emailsMax, makeEvents } from "../support/events.ts";
import { load, toRequest, type LoadResult } from "../support/load.ts";
import { compare, type Contestant, type Run } from "../support/rounds.ts";
import type { Suite } from "./suite.ts";

const quietPerSecond = 100;
const quietConnections = 4;
const overloadFactor = 20;
const loudPerSecond = 1_000;
const loudConnections = 16;
const askers = 40;
const heavyEvents = 200_000;
const heavyType = "heavy.event";
const batchItems = 1_000;
const conditions = Array.from({ length: 10 }, (_, index) => `key${index}`);
const occurredAt = "2026-01-01T00:00:00Z";
const range = { from: occurredAt, to: "2026-01-02T00:00:00Z" };

export const fairness: Suite = async (context) => {
  const { daybook, database, signal } = context;
  const { address } = daybook;
  const quietProperty = await daybook.newProperty();
  const bodies = makeEvents(emailsMax).map((event) => JSON.stringify(event));
  const requestsOf = (key: string): Buffer[] => bodies.map((body) => toRequest("POST", "/v1/events", key, body));
  const quiet = requestsOf(quietProperty.key);
  const quietly = (seconds: number): Promise<LoadResult> =>
    load({ address, requests: quiet, connections: quietConnections, perSecond: quietPerSecond, seconds, signal });
  const statuses = new Map<number, number>();
  await makeHeavyEvents();

  /** Records the events of the heavy aggregates, in the live property. */
  async function makeHeavyEvents(): Promise<void> {
    const identifier = { type: "email", value: "heavy@example.com" };
    const properties = Object.fromEntries(conditions.map((key) => [key, key]));
    const event = { type: heavyType, identifier, properties, occurred_at: occurredAt };
    const body = JSON.stringify({ events: Array.from({ length: batchItems }, () => event), backfill: true });
    for (let made = 0; made < heavyEvents; made += batchItems) {
      const { status } = await post("/v1/events/batch", body, signal);
      if (status !== 200) throw new Error(`events cannot be made: ${status}`);
    }
    await daybook.settle();
  }

  async function post(path: string, body: string, until: AbortSignal): Promise<{ status: number; text: string }> {
    const headers = { authorization: `Bearer ${daybook.key}`, "content-type": "application/json" };
    const response = await fetch(address + path, { method: "POST", headers, body, signal: until });
    return { status: response.status, text: await response.text() };
  }

  /** Runs `work` while many clients request aggregates; then they disconnect. */
  async function besideAggregates<T>(work: () => Promise<T>): Promise<T> {
    const filter = Object.fromEntries(conditions.map((key) => [`properties.${key}`, key]));
    const body = JSON.stringify({ metric: heavyType, ...range, filter });
    const done = new AbortController();
    const until = AbortSignal.any([signal, done.signal]);
    const asking = Array.from({ length: askers }, async () => {
      while (!until.aborted) {
        const { status } = await post("/v1/metric-aggregates", body, until).catch(() => ({ status: 0 }));
        if (!until.aborted) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
    try {
      return await work();
    } finally {
      done.abort();
      await Promise.all(asking);
    }
  }

  /** Loads a new key of the live property far above its limit while the quiet property is measured. */
  async function besideOverload(seconds: number, limit: number): Promise<LoadResult> {
    const requests = requestsOf(await daybook.newKey(limit));
    const options = { requests, connections: loudConnections, perSecond: loudPerSecond, seconds, signal };
    const [result] = await Promise.all([quietly(seconds), load({ address, ...options, mayBeRefused: true })]);
    return result;
  }

  const contestant = (name: string, run: (seconds: number) => Promise<LoadResult>): Contestant => ({
    name,
    run: async (seconds) => toRun(await run(seconds)),
    cpuSeconds: daybook.cpuSeconds,
    settle: daybook.settle,
    async countRows() {
      const count = "SELECT count(*) AS count FROM event.events WHERE property_id = $1 AND source = 'api'";
      const { rows } = await database.pool.query<{ count: string }>(count, [quietProperty.propertyId]);
      return Number(rows[0]?.count);
    },
  });
  const [alone, refused, overloaded, aggregated] = [
    "alone",
    "beside a key that is refused",
    `beside a key at ${overloadFactor} times its limit`,
    `beside ${askers} aggregates`,
  ] as const;
  const samples = await compare(
    [
      contestant(refused, (seconds) => besideOverload(seconds, 1)),
      // Admitted requests are writes, and come all at once.
      contestant(overloaded, (seconds) =>
        besideOverload(seconds, Math.round((loudPerSecond * seconds) / overloadFactor)),
      ),
      contestant(aggregated, (seconds) => besideAggregates(() => quietly(seconds))),
      contestant(alone, quietly),
    ],
    context,
  );
  const answers = [...statuses].map(([status, count]) => `${count} with ${status}`).join(", ");
  return {
    title: "Fairness: single events of a quiet property",
    unit: "requests",
    samples,
    pairs: [
      [refused, alone],
      [overloaded, alone],
      [aggregated, alone],
    ],
    notes: [
      "The aim for p99 is 1.3 times beside the other keys, and 2 times beside the aggregates.",
      `The aggregates were answered: ${answers}.`,
      "CPU time is of the whole server; all other figures are of the quiet property.",
    ],
  };
};

function toRun({ requests, elapsedS, p50Ms, p99Ms }: LoadResult): Run {
  return { items: requests, elapsedS, p50Ms, p99Ms };
}
