/**
 * Stops a gateway without losing a request: every request is answered, or its connection was refused. What goes on for
 * longer than closeTimeoutMs is cut off.
 *
 * 1. The gateway reports unready and goes on, so that load balancers switch to other gateways.
 * 2. It stops accepting once no connection has arrived for quietMs, or after acceptMaxMs. The kernel resets
 *    connections that it has accepted and Node has not, so first all answers wait: clients that connect for each
 *    request do not come back, and once none has arrived for stillMs, none is on its way.
 * 3. Each connection closes with its next answer. An idle one is closed after idleMs, once none of its bytes is unread.
 */
import { setImmediate as afterPoll, setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { Readiness } from "../readiness.ts";
import type { Connection, Connections } from "./connections.ts";
import type { Listener } from "./listener.ts";

// New connections have ceased after this time without one; else accepting goes on for at most acceptMaxMs.
const quietMs = 500;
const acceptMaxMs = 3_000;
// The same while answers wait.
const stillMs = 250;
const holdMsMax = 1_500;
// A connection without a request for this long counts as idle.
const idleMs = 500;
const closeIntervalMs = 50;
// Connections that are still open after this time are closed. A client that pipelines without a pause always has a
// request waiting, so no answer closes its connection. It is cut off, and has to repeat what was not answered
// (RFC 9112, section 9.3.2).
const closeTimeoutMs = 10_000;

/** @param delayMs minimum time of accepting after the stop begins. */
export function closeGently(app: FastifyInstance, listener: Listener, readiness: Readiness, delayMs: number): void {
  const { connections, servers } = listener;
  let isClosing = false;
  let isLeaving = false;
  let stopped: Promise<void> | undefined;
  app.addHook("onSend", async (request, reply) => {
    if (!isClosing) return;
    await stopped;
    const connection = connections.all.get(request.raw.socket);
    // Fastify sets `connection: close` on every answer from now on. Before accepting has stopped the client would
    // reconnect, and it would lose the requests that it has pipelined.
    if (isLeaving && connection?.waiting.length === 0) void reply.header("connection", "close");
    else reply.raw.removeHeader("connection");
  });
  app.addHook("preClose", async () => {
    isClosing = true;
    readiness.leave();
    const open = servers.filter((server) => server.listening);
    if (open.length === 0) return;
    await sleep(Math.max(delayMs - quietMs, 0));
    await untilQuiet(connections, quietMs, acceptMaxMs);
    const { promise, resolve: release } = Promise.withResolvers<void>();
    stopped = promise;
    await untilQuiet(connections, stillMs, holdMsMax);
    const ended = open.map((server) => new Promise<void>((resolve) => void server.once("close", resolve)));
    for (const server of open) server.close();
    isLeaving = true;
    release();
    const timeout = setTimeout(() => {
      for (const server of open) server.closeAllConnections();
    }, closeTimeoutMs);
    const timer = setInterval(() => void closeIdle(connections.all.values()), closeIntervalMs);
    await Promise.all(ended);
    clearInterval(timer);
    clearTimeout(timeout);
  });
}

/** Waits until no connection has arrived for a time from now on. @param msMax the longest that it waits. */
async function untilQuiet(connections: Connections, ms: number, msMax: number): Promise<void> {
  const startMs = performance.now();
  for (let nowMs = startMs; nowMs - startMs < msMax; nowMs = performance.now()) {
    const leftMs = ms - (nowMs - Math.max(startMs, connections.acceptedAtMs));
    if (leftMs <= 0) return;
    await sleep(leftMs);
  }
}

async function closeIdle(connections: Iterable<Connection>): Promise<void> {
  const nowMs = performance.now();
  const idle = [...connections].filter((connection) => isIdle(connection) && nowMs - connection.quietSinceMs > idleMs);
  // Lets Node read the bytes that have arrived by now.
  await afterPoll();
  for (const connection of idle) if (isIdle(connection)) connection.socket.destroy();
}

function isIdle({ answer, socket, quietBytesRead }: Connection): boolean {
  return answer === null && socket.bytesRead === quietBytesRead;
}
