/**
 * Sockets that request large pages and never read: their effect on a normal client of the gateway, and on its memory.
 */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Owner } from "#shared/process/lifecycle.ts";
import type { Daybook } from "../contestants/daybook.ts";
import { startGateways } from "../contestants/gateways.ts";
import { emailsMax, makeEvents } from "../support/events.ts";
import { load, toRequest } from "../support/load.ts";
import { compare, type Contestant } from "../support/rounds.ts";
import { spread } from "../support/stats.ts";
import type { Suite } from "./suite.ts";

// Pages of 8 MB.
const pageItems = 100;
const eventBytes = 80_000;
const batchItems = 20;
const normalPerSecond = 100;
const normalConnections = 4;
// Time for the gateway to prepare the pages.
const settleMs = 1_000;
const mebibyte = 1024 * 1024;

export const nonReaders: Suite = async (context) => {
  const { daybook, signal } = context;
  const owner = new Owner();
  const growths = new Map<number, number[]>();
  try {
    await recordLargeEvents(daybook, signal);
    const { addresses, cpuSeconds, residentBytes } = await startGateways(daybook, 1, owner);
    const [address = ""] = addresses;
    const requests = makeEvents(emailsMax).map((event) =>
      toRequest("POST", "/v1/events", daybook.key, JSON.stringify(event)),
    );
    const page = toRequest("GET", `/v1/events?page[limit]=${pageItems}`, daybook.other.key, "");

    const contestant = (name: string, count: number): Contestant => ({
      name,
      async run(seconds) {
        const before = await residentBytes();
        const sockets = Array.from({ length: count }, () => ask(address, page));
        try {
          if (count > 0) await sleep(settleMs, undefined, { signal });
          const options = { address, requests, connections: normalConnections, perSecond: normalPerSecond };
          const result = await load({ ...options, seconds, signal });
          const growth = ((await residentBytes()) - before) / mebibyte;
          growths.set(count, [...(growths.get(count) ?? []), growth]);
          return { ...result, items: result.requests };
        } finally {
          for (const socket of sockets) socket.destroy();
        }
      },
      cpuSeconds,
      settle: daybook.settle,
    });
    const samples = await compare(
      [contestant("alone", 0), contestant("beside 100", 100), contestant("beside 500", 500)],
      context,
    );
    return {
      title:
        `Sockets that never read pages of ${Math.round((pageItems * eventBytes) / 1e6)} MB, ` +
        "beside a normal client",
      unit: "requests",
      samples,
      pairs: [
        ["beside 100", "alone"],
        ["beside 500", "alone"],
      ],
      notes: [...growths].map(([count, all]) => {
        const { median, min, max } = spread(all);
        const range = `${min.toFixed(0)} to ${max.toFixed(0)}`;
        return `Beside ${count} the gateway's memory grew by ${median.toFixed(0)} MB (${range}).`;
      }),
    };
  } finally {
    await owner.close();
  }
};

function ask(address: string, request: Buffer): Socket {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname, () => socket.write(request));
  // The gateway closes it eventually.
  socket.on("error", () => undefined);
  return socket.pause();
}

async function recordLargeEvents({ address, other }: Daybook, signal: AbortSignal): Promise<void> {
  const events = Array.from({ length: batchItems }, () => ({
    type: "page.made",
    identifier: { type: "external_id", value: "non-reader" },
    properties: { text: "x".repeat(eventBytes) },
  }));
  for (let recorded = 0; recorded < pageItems; recorded += batchItems) {
    const response = await fetch(`${address}/v1/events/batch`, {
      method: "POST",
      headers: { authorization: `Bearer ${other.key}`, "content-type": "application/json" },
      body: JSON.stringify({ events }),
      signal,
    });
    const body = await response.text();
    if (!body.includes(`"failed":0`)) throw new Error(`events cannot be recorded: ${response.status} ${body}`);
  }
}
