/** What strangers send does not multiply the series that Prometheus keeps. */
import { METHODS } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Owner } from "#shared/process/lifecycle.ts";
import { createRegistry } from "#shared/rpc/server.ts";
import { startSingleProcess, type SingleProcess } from "../support/daybook.ts";
import { openWire } from "../support/wire.ts";

const owner = new Owner();
const registry = createRegistry();
let daybook: SingleProcess;
beforeAll(async () => {
  daybook = await startSingleProcess(owner, { registry });
});
afterAll(() => owner.close());

/** The series of requests, by their labels. */
async function series(): Promise<string[]> {
  const { values } = (await registry.getSingleMetric("daybook_http_duration_seconds")?.get()) ?? { values: [] };
  return values
    .filter((value) => "metricName" in value && String(value.metricName).endsWith("_count"))
    .map(({ labels }) => `${labels["method"]} ${labels["route"]} ${labels["status"]}`);
}

// CONNECT is no request of a server, and QUERY may be unknown to older parsers.
const methods = METHODS.filter((method) => method !== "CONNECT" && method !== "QUERY");
const paths = [
  "/v1/events",
  "/v1/events/evt_x",
  "/v1/profiles/prof_x/identifiers",
  "/api/events",
  "/events",
  "/api/flows",
  "/flows",
  "/flows/x",
  "/docs",
  "/health/live",
  "/v1/nothing",
  "/nothing",
  "/v1/%",
  "/%00",
];

/** Sends every method to every path, with something of its own in the path and the query. */
async function sendAll(mark: string): Promise<void> {
  for (const method of methods) {
    const wire = await openWire(daybook.baseUrl);
    const urls = [...paths.map((path) => `${path}?${mark}=1`), `/${mark}`, `/v1/${mark}/${mark}`, `/api/${mark}`];
    for (const [index, url] of urls.entries()) {
      const last = index === urls.length - 1 ? "Connection: close\r\n" : "";
      wire.write(`${method} ${url} HTTP/1.1\r\nHost: a\r\nX-Mark: ${mark}\r\nContent-Length: 0\r\n${last}\r\n`);
    }
    await wire.closed;
    wire.end();
  }
}

test("every method of every path, again and again, makes a few series and then none", async () => {
  await sendAll("first");
  const once = await series();
  await sendAll("second");
  await sendAll("third");
  expect(await series()).toEqual(once);
  // Of what is not there, or not for that method: a series for each status.
  const unserved = once.filter((one) => one.startsWith("none none "));
  expect(new Set(unserved.map((one) => one.split(" ")[2]))).toEqual(new Set(["404", "405"]));
  const ours = new Set(["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "none"]);
  expect(once.map((one) => one.split(" ")[0] ?? "").filter((method) => !ours.has(method))).toEqual([]);
  expect(once.length).toBeLessThan(paths.length * 4);
});
