/** How long other requests wait beside the heaviest ones. A probe is sent every 10 ms. */
import { setTimeout as sleep } from "node:timers/promises";
import { worstRequests, type WorstRequest } from "../../test/support/worst-requests.ts";
import { cpuTimes } from "../support/busy.ts";
import { spread } from "../support/stats.ts";
import type { Suite } from "./suite.ts";

const probeEveryMs = 10;
// So that garbage of one request does not slow the next one.
const settleMs = 500;
const stallMsMax = 250;
const pageEventBytes = 250_000;
const pageEvents = 64;
const pageEventsPerRequest = 7;
const pagePath = `/v1/events?filter[type]=stall.page&page[limit]=${pageEvents}`;

/** A heavy request and its name. */
interface Heavy {
  name: string;
  path: string;
  body: string | undefined;
}

export const stall: Suite = async ({ daybook, rounds, signal }) => {
  const { address, other } = daybook;
  const headers = { authorization: `Bearer ${other.key}`, "content-type": "application/json" };

  async function send(path: string, body: string | undefined, status?: number): Promise<void> {
    const answer = await fetch(
      address + path,
      body === undefined ? { headers, signal } : { method: "POST", headers, body, signal },
    );
    const text = await answer.text();
    if (answer.status !== status && !(status === undefined && answer.ok)) {
      throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 500)}`);
    }
  }

  /** The longest time that a probe took during the work. */
  async function stallOf(work: () => Promise<void>): Promise<number> {
    const over = new AbortController();
    let longestMs = 0;
    const probe = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const begunMs = performance.now();
        await (await fetch(`${address}/health/live`, { signal })).text();
        longestMs = Math.max(longestMs, performance.now() - begunMs);
        await sleep(probeEveryMs);
      }
    };
    const probing = probe();
    try {
      await work();
    } finally {
      over.abort();
      await probing;
    }
    return longestMs;
  }

  const requests = worstRequests();
  for (const { before } of requests) if (before) await send(before.path, JSON.stringify(before.body));
  await fillPage((body) => send("/v1/events/batch", body));
  const statuses = new Map(requests.map(({ name, status }: WorstRequest) => [name, status]));
  const heavy: Heavy[] = [
    { name: "nothing", path: "/health/live", body: undefined },
    { name: "a page of 16 MB", path: pagePath, body: undefined },
    ...requests.map(({ name, path, body }) => ({ name, path, body: JSON.stringify(body) })),
  ];
  const stalls = new Map(heavy.map(({ name }): [string, number[]] => [name, []]));
  const busyBefore = cpuTimes();
  for (let round = 0; round < rounds; round++) {
    for (const { name, path, body } of heavy) {
      await sleep(settleMs, undefined, { signal });
      const longestMs = await stallOf(async () => {
        await send(path, body, statuses.get(name));
        // Jobs work after their answer.
        await daybook.settle();
      });
      stalls.get(name)?.push(longestMs);
    }
  }
  const busyAfter = cpuTimes();
  const busy = (busyAfter.busy - busyBefore.busy) / (busyAfter.all - busyBefore.all);
  const lines = [...stalls].map(([name, all]) => {
    const { median, max } = spread(all);
    const mark = max > stallMsMax ? `  above ${stallMsMax}` : "";
    return `${median.toFixed(0).padStart(6)} ms, at most ${max.toFixed(0).padStart(6)}: ${name}${mark}`;
  });
  return {
    title: `The longest wait of a probe beside one request, median and highest of ${rounds}`,
    unit: "requests",
    samples: new Map(),
    notes: [
      ...lines,
      `The machine was busy for ${(busy * 100).toFixed(0)} % of the time, ` +
        "with this, the load generator and whatever else. " +
        `It is promised that nobody waits longer than ${stallMsMax} ms.`,
    ],
  };
};

/** Records enough events to fill a page. */
async function fillPage(record: (body: string) => Promise<void>): Promise<void> {
  const properties = { text: "x".repeat(pageEventBytes) };
  const event = { type: "stall.page", identifier: { type: "email", value: "page@example.com" }, properties };
  for (let recorded = 0; recorded < pageEvents; recorded += pageEventsPerRequest) {
    await record(JSON.stringify({ events: Array.from({ length: pageEventsPerRequest }, () => event) }));
  }
}
