/** Time from the 201 of an event until its metric counts it, at half of the maximum load. */
import { setTimeout as sleep } from "node:timers/promises";
import { emailsMax, makeEvents } from "../support/events.ts";
import { load, toRequest } from "../support/load.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import { percentile } from "../support/stats.ts";
import type { Suite } from "./suite.ts";

const connections = 64;
const fullLoadSeconds = 3;
const probeIntervalMs = 50;
const pollMs = 2;

export const counted: Suite = async (context) => {
  const { daybook, signal } = context;
  const { address, key } = daybook;
  const requests = makeEvents(emailsMax).map((event) => toRequest("POST", "/v1/events", key, JSON.stringify(event)));
  const full = await load({ address, requests, connections, seconds: fullLoadSeconds, signal });
  await daybook.settle();
  const perSecond = full.requests / full.elapsedS / 2;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  let probes = 0;

  /** Records an event of a new type, and waits for its metric. */
  async function probe(): Promise<number> {
    const type = `probe.n${Date.now()}x${++probes}`;
    const body = JSON.stringify({ type, identifier: { type: "email", value: "probe@example.com" }, properties: {} });
    const { status } = await fetch(`${address}/v1/events`, { method: "POST", headers, body, signal });
    if (status !== 201) throw new Error(`a probe was answered with ${status}`);
    const startMs = performance.now();
    for (;;) {
      const response = await fetch(`${address}/v1/metrics?filter[name]=${type}`, { headers, signal });
      const { data } = (await response.json()) as { data: unknown[] };
      if (data.length > 0) return performance.now() - startMs;
      await sleep(pollMs, undefined, { signal });
    }
  }

  const contestant: Contestant = {
    name: "counted after 201",
    async run(seconds) {
      const startMs = performance.now();
      const loading = load({ address, requests, connections, seconds, perSecond, signal });
      const waits: Promise<number>[] = [];
      while (performance.now() - startMs < seconds * 1000) {
        waits.push(probe());
        await sleep(probeIntervalMs, undefined, { signal });
      }
      const sorted = Float64Array.from(await Promise.all(waits)).toSorted();
      await loading;
      const elapsedS = (performance.now() - startMs) / 1000;
      return { items: sorted.length, elapsedS, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) };
    },
    cpuSeconds: daybook.cpuSeconds,
    settle: daybook.settle,
  };
  const samples = await compare([contestant], context);
  const notes = [`Beside ${Math.round(perSecond).toLocaleString("en")} other events a second.`];
  return { title: "From 201 to counted, at half load", unit: "probes", samples, notes };
};
