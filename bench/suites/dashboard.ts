/** The dashboard: what Live costs those who record, how soon an event is on screen, and how soon a screen is. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { Owner } from "#shared/process/lifecycle.ts";
import { encodeId } from "#shared/values/ids.ts";
import { newSession, openBrowser, sessionHeaders } from "../support/dashboard.ts";
import { emailsMax, makeEvents } from "../support/events.ts";
import { load, toRequest } from "../support/load.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import { median, percentile } from "../support/stats.ts";
import type { Suite } from "./suite.ts";

const watchers = 5;
const perSecond = 1_000;
const connections = 64;
const probes = 60;
const probeIntervalMs = 130;
const probeTimeoutMs = 10_000;
const paints = 5;
const paintWaitMs = 2_500;

export const dashboard: Suite = async (context) => {
  const { daybook, signal } = context;
  const { address } = daybook;
  const { key, propertyId } = await daybook.newProperty();
  const property = encodeId("prop", propertyId);
  const token = await newSession(daybook);
  const requests = makeEvents(emailsMax).map((event) => toRequest("POST", "/v1/events", key, JSON.stringify(event)));
  const record = (seconds: number) => load({ address, requests, connections, perSecond, seconds, signal });

  /** Holds streams open while `work` runs. Their frames are read and thrown away. */
  async function watched<T>(work: () => Promise<T>): Promise<T> {
    const done = new AbortController();
    const headers = sessionHeaders(address, token);
    const streams = await Promise.all(
      Array.from({ length: watchers }, () =>
        fetch(`${address}/dashboard/${property}/live`, { headers, signal: AbortSignal.any([signal, done.signal]) }),
      ),
    );
    const refused = streams.find(({ status }) => status !== 200);
    if (refused) throw new Error(`a stream was refused with ${refused.status}`);
    const reading = streams.map(async (stream) => stream.body?.pipeTo(new WritableStream()).catch(() => undefined));
    try {
      return await work();
    } finally {
      done.abort();
      await Promise.all(reading);
    }
  }

  const contestant = (name: string, run: (seconds: number) => ReturnType<typeof record>): Contestant => ({
    name,
    async run(seconds) {
      const { requests: items, elapsedS, p50Ms, p99Ms } = await run(seconds);
      return { items, elapsedS, p50Ms, p99Ms };
    },
    cpuSeconds: daybook.cpuSeconds,
    settle: daybook.settle,
  });
  const samples = await compare(
    [
      contestant(`beside ${watchers} watchers`, (seconds) => watched(() => record(seconds))),
      contestant("unwatched", record),
    ],
    context,
  );

  const owner = new Owner();
  try {
    const browser = await openBrowser(address, token, owner);
    const page = await browser.newPage();
    const sorted = Float64Array.from(await probeScreen(page)).toSorted();
    const figures = [0.5, 0.95].map((share) => `p${share * 100} ${Math.round(percentile(sorted, share))} ms`);
    const notes = [`From 201 to on screen, of ${probes} events: ${figures.join(", ")}; the aim is 1,500 ms for p95.`];
    for (const screen of ["overview", "events"]) {
      const values = [];
      for (let paint = 0; paint < paints; paint++) values.push(await largestPaint(page, screen));
      notes.push(`Largest contentful paint of ${screen}: ${Math.round(median(values))} ms; the aim is 800 ms.`);
    }
    return { title: "The dashboard beside 1,000 events a second", unit: "requests", samples, notes };
  } finally {
    await owner.close();
  }

  /** How long after its 201 each of some events is on the screen. */
  async function probeScreen(page: Page): Promise<number[]> {
    await page.goto(`/dashboard/${property}/events?live=on`);
    await page.locator(".live-totals").waitFor();
    const times: number[] = [];
    for (let probe = 0; probe < probes; probe++) {
      const type = `probe.n${probe}`;
      // Begun before the request. What is drawn is noted by the page itself.
      const drawn = page.evaluate<number>(`new Promise((resolve, reject) => {
        const look = () => document.body.innerText.includes(${JSON.stringify(type)} + "\\t") && done();
        const observer = new MutationObserver(() => requestAnimationFrame(look));
        const done = () => { observer.disconnect(); resolve(performance.timeOrigin + performance.now()); };
        observer.observe(document.body, { childList: true, subtree: true });
        setTimeout(() => reject(new Error("the event is not on screen")), ${probeTimeoutMs});
      })`);
      const body = JSON.stringify({ type, identifier: { type: "email", value: "probe@example.com" }, properties: {} });
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const { status } = await fetch(`${address}/v1/events`, { method: "POST", headers, body, signal });
      const answeredMs = performance.timeOrigin + performance.now();
      if (status !== 201) throw new Error(`a probe was answered with ${status}`);
      times.push(Math.max(0, (await drawn) - answeredMs));
      // At another part of the second each time.
      await sleep(probeIntervalMs, undefined, { signal });
    }
    return times;
  }

  async function largestPaint(page: Page, screen: string): Promise<number> {
    await page.goto(`/dashboard/${property}/${screen}`);
    return page.evaluate<number>(`new Promise((resolve) => {
      let last = 0;
      new PerformanceObserver((list) => { last = list.getEntries().at(-1).startTime; })
        .observe({ type: "largest-contentful-paint", buffered: true });
      setTimeout(() => resolve(last), ${paintWaitMs});
    })`);
  }
};
