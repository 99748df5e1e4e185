/**
 * Live in a browser for minutes at 3,000 events a second, while its gateway is replaced: what is shown and what is
 * counted as more must be together what was recorded, and the page's memory must not grow.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { Owner } from "#shared/process/lifecycle.ts";
import { encodeId } from "#shared/values/ids.ts";
import { startProxy } from "../../test/support/proxy.ts";
import { startGateways } from "../contestants/gateways.ts";
import { newSession, openBrowser } from "../support/dashboard.ts";
import { makeEvents } from "../support/events.ts";
import { load, toRequest } from "../support/load.ts";
import type { Suite } from "./suite.ts";

const perSecond = 3_000;
const batchItems = 100;
const bodies = 100;
const connections = 4;
// Until the table is full.
const fillSeconds = 15;
const settleTimeoutMs = 60_000;
const pollMs = 250;

export const liveSoak: Suite = async ({ daybook, minutes, signal }) => {
  const owner = new Owner();
  try {
    const { key, propertyId } = await daybook.newProperty();
    const property = encodeId("prop", propertyId);
    const events = makeEvents(bodies * batchItems);
    const requests = Array.from({ length: bodies }, (_, index) =>
      toRequest(
        "POST",
        "/v1/events/batch",
        key,
        JSON.stringify({ events: events.slice(index * batchItems, (index + 1) * batchItems) }),
      ),
    );
    const proxy = owner.own(await startProxy());
    const address = `http://127.0.0.1:${proxy.port}`;
    const first = new Owner();
    owner.defer(() => first.close());
    const portOf = async (of: Owner): Promise<number> =>
      Number(new URL((await startGateways(daybook, 1, of)).addresses[0] ?? "").port);
    proxy.sendTo(await portOf(first));
    const page = await (await openBrowser(address, await newSession(daybook), owner)).newPage();
    await page.goto(`/dashboard/${property}/events?live=on`);
    await page.locator(".live-totals").waitFor();

    const seconds = fillSeconds + minutes * 60;
    const cpuBefore = await daybook.cpuSeconds();
    const heaps: number[] = [];
    const watching = async (): Promise<void> => {
      await sleep(fillSeconds * 1000, undefined, { signal });
      heaps.push(await heapMegabytes(page));
      await sleep(minutes * 30_000, undefined, { signal });
      // Another gateway takes the place of the first.
      const port = await portOf(owner);
      proxy.sendTo(port);
      await first.close();
    };
    const [{ requests: sent, elapsedS }] = await Promise.all([
      load({ address: daybook.address, requests, connections, perSecond: perSecond / batchItems, seconds, signal }),
      watching(),
    ]);
    const recorded = sent * batchItems;
    const { shown, skipped } = await settled(page, recorded, signal);
    heaps.push(await heapMegabytes(page));
    const rows = await page.locator("tbody tr").count();
    if (shown + skipped !== recorded) {
      throw new Error(`${recorded} events were recorded, ${shown} shown and ${skipped} counted as more`);
    }
    const [begin = 0, end = 0] = heaps;
    const cpuSeconds = (await daybook.cpuSeconds()) - cpuBefore;
    const sample = {
      perSecond: recorded / elapsedS,
      p50Ms: undefined,
      p99Ms: undefined,
      cpuSecondsPer1000: (cpuSeconds / recorded) * 1000,
    };
    return {
      title: `Live for ${minutes} minutes, across a gateway that is replaced`,
      unit: "events",
      samples: new Map([["recorded beside Live", [sample]]]),
      notes: [
        `${shown.toLocaleString("en")} shown and ${skipped.toLocaleString("en")} counted as more: exactly those recorded.`,
        `${rows} rows in the page; its heap was ${begin.toFixed(1)} MB at the begin and ${end.toFixed(1)} MB at the end.`,
      ],
    };
  } finally {
    await owner.close();
  }
};

/** The page's totals, once they reach the number. */
async function settled(page: Page, total: number, signal: AbortSignal): Promise<{ shown: number; skipped: number }> {
  const deadlineMs = performance.now() + settleTimeoutMs;
  for (;;) {
    const { shown, skipped } = await page.evaluate<{ shown: string; skipped: string }>(
      `({ ...document.querySelector(".live-totals").dataset })`,
    );
    const now = { shown: Number(shown), skipped: Number(skipped) };
    if (now.shown + now.skipped >= total || performance.now() > deadlineMs) return now;
    await sleep(pollMs, undefined, { signal });
  }
}

async function heapMegabytes(page: Page): Promise<number> {
  const debug = await page.context().newCDPSession(page);
  await debug.send("HeapProfiler.enable");
  await debug.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await debug.send("Runtime.getHeapUsage")) as { usedSize: number };
  await debug.detach();
  return usedSize / 1_000_000;
}
