/** Aggregates by day over millions of events, against SQL on the events. */
import { countHistory, makeHistory } from "../support/history.ts";
import { load, toRequest } from "../support/load.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import { percentile } from "../support/stats.ts";
import type { Suite } from "./suite.ts";

export const aggregate: Suite = (context) =>
  compareWithSql(context, "Count and sum", ["count", "sum_value"], "count(*), sum(value)");

/** Unique profiles per day. */
export const uniques: Suite = (context) =>
  compareWithSql(context, "Unique profiles", ["unique_profiles"], "count(DISTINCT profile_id)");

async function compareWithSql(
  context: Parameters<Suite>[0],
  what: string,
  measurements: string[],
  columns: string,
): ReturnType<Suite> {
  const { daybook, database, signal } = context;
  const { type, events, days, from, to, property } = await makeHistory(context);
  const rebuildSeconds = await countHistory(context);
  const timezone = "Europe/Berlin";
  const body = { metric: type, measurements, interval: "day", from, to, timezone, filter: { currency: "EUR" } };
  const contestants: Contestant[] = [
    {
      name: "Daybook",
      async run(seconds) {
        const requests = [toRequest("POST", "/v1/metric-aggregates", daybook.other.key, JSON.stringify(body))];
        const result = await load({ address: daybook.address, requests, connections: 1, seconds, signal });
        return { ...result, items: result.requests };
      },
      cpuSeconds: daybook.cpuSeconds,
    },
    {
      name: "SQL over the events",
      async run(seconds) {
        const startMs = performance.now();
        const latencies: number[] = [];
        while (performance.now() - startMs < seconds * 1000) {
          signal.throwIfAborted();
          const sentMs = performance.now();
          await database.pool.query(
            `SELECT date_trunc('day', occurred_at, $5) AS day, ${columns} FROM event.events
             WHERE property_id = $1 AND type = $2 AND occurred_at >= $3 AND occurred_at < $4 AND occurred_at > '-infinity'
               AND currency = 'EUR'
             GROUP BY 1 ORDER BY 1`,
            [property, type, from, to, timezone],
          );
          latencies.push(performance.now() - sentMs);
        }
        const sorted = Float64Array.from(latencies).toSorted();
        const elapsedS = (performance.now() - startMs) / 1000;
        return { items: sorted.length, elapsedS, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) };
      },
      cpuSeconds: () => Promise.resolve(Number.NaN),
    },
  ];
  const samples = await compare(contestants, context);
  const notes = [`Counting all of them anew took ${Math.round(rebuildSeconds)} s.`];
  return {
    title: `${what} of ${days} days by day, ${events.toLocaleString("en")} events`,
    unit: "answers",
    samples,
    notes,
  };
}
