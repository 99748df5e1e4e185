/**
 * Connections: how many one address may hold, what a proxy may hold for others, and how long idle ones stay when there
 * are many.
 */
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Registry } from "prom-client";
import { Owner } from "#shared/process/lifecycle.ts";
import { listenerLimits } from "../../gateway/listener/limits.ts";
import { startSingleProcess, type SingleProcess } from "../support/daybook.ts";
import { eventually } from "../support/processes.ts";
import { closeOf, openSocket } from "../support/sockets.ts";

const owner = new Owner();
const perAddress = 5;
const listener = { ...listenerLimits, connectionsMax: 20, connectionsPerAddressMax: perAddress };
const registry = new Registry();
let daybook: SingleProcess;
let sockets: Socket[] = [];
beforeAll(async () => {
  daybook = await startSingleProcess(owner, { registry, edge: { listener } });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await eventually(async () => ((await ask(daybook.baseUrl, "127.0.0.9")) === undefined ? undefined : true));
});
afterAll(() => owner.close());

/**
 * Asks on a connection of its own, which stays open.
 * @returns the answer's head, or undefined when the connection was closed unread.
 */
async function ask(baseUrl: string, localAddress: string): Promise<string | undefined> {
  const socket = await openSocket(baseUrl, localAddress);
  sockets.push(socket);
  socket.write("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n");
  const answer = new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
  return Promise.race([answer, closeOf(socket)]);
}

describe("one address", () => {
  test("holds no more connections than it may, others go on, and what it closes it may open again", async () => {
    for (let index = 0; index < perAddress; index++) expect(await ask(daybook.baseUrl, "127.0.0.2")).toBeDefined();
    const held = [...sockets];
    for (let index = 0; index < 3; index++) expect(await ask(daybook.baseUrl, "127.0.0.2")).toBeUndefined();
    expect(await ask(daybook.baseUrl, "127.0.0.3")).toBeDefined();
    const dropped = await registry.getSingleMetricAsString("daybook_http_connections_dropped_total");
    expect(dropped).toContain('{limit="address"} 3');
    held[0]?.destroy();
    expect(await eventually(() => ask(daybook.baseUrl, "127.0.0.2"))).toBeDefined();
  });

  test("of a trusted proxy holds as many as there are", async () => {
    const { databaseUrl } = daybook;
    const behind = await startSingleProcess(owner, { databaseUrl, edge: { listener, trustedProxies: ["127.0.0.2"] } });
    for (let index = 0; index < 3 * perAddress; index++) expect(await ask(behind.baseUrl, "127.0.0.2")).toBeDefined();
    for (let index = 0; index < perAddress; index++) expect(await ask(behind.baseUrl, "127.0.0.4")).toBeDefined();
    for (const socket of sockets.slice(0, perAddress)) socket.destroy();
    // There is room in all, so it is the address that has too many.
    await eventually(async () => ((await ask(behind.baseUrl, "127.0.0.5")) === undefined ? undefined : true));
    expect(await ask(behind.baseUrl, "127.0.0.4")).toBeUndefined();
  });
});

test("idle connections may stay for a short time only when most connections are taken", async () => {
  const timeoutOf = (head = ""): number => Number(/keep-alive: timeout=(\d+)/i.exec(head)?.[1]);
  expect(timeoutOf(await ask(daybook.baseUrl, "127.0.0.2"))).toBe(72);
  for (let address = 3; address < 7; address++) {
    for (let index = 0; index < 4; index++) await ask(daybook.baseUrl, `127.0.0.${address}`);
  }
  expect(timeoutOf(await ask(daybook.baseUrl, "127.0.0.7"))).toBe(5);
});
