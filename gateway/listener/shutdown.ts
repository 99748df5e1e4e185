/**
 * Stops a gateway without losing a request: every request is answered, or its connection was refused.
 *
 * 1. The gateway reports unready and goes on, so that load balancers switch to other gateways.
 * 2. It stops accepting once no connection has arrived for quietMs.
 * 3. Each connection closes with its next answer. An idle one is closed after idleMs, once none of its bytes is unread.
 */
import type { Server } from "node:http";
import { setImmediate as afterPoll, setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { Readiness } from "../readiness.ts";
import type { Connection, Connections } from "./connections.ts";
import type { Listener } from "./listener.ts";

// New connections have ceased after this time without one; accepting ends at most acceptMaxMs after the delay.
const quietMs = 500;
const acceptMaxMs = 3_000;
// Time to empty the accept queue, and to wait for one last connection.
const emptyMsMax = 1_000;
const lastAcceptMs = 100;
// A connection without a request for this long counts as idle.
const idleMs = 500;
const closeIntervalMs = 50;
// Connections that are still open after this time are closed.
const closeTimeoutMs = 10_000;

/** @param delayMs minimum time of accepting after the stop begins. */
export function closeGently(app: FastifyInstance, listener: Listener, readiness: Readiness, delayMs: number): void {
  const { connections, servers } = listener;
  let isClosing = false;
  let isLeaving = false;
  app.addHook("onSend", async (request, reply) => {
    if (!isClosing) return;
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
    const startMs = performance.now();
    const isQuiet = (): boolean => performance.now() - connections.acceptedAtMs > quietMs;
    const elapsedMs = (): number => performance.now() - startMs;
    await sleep(Math.max(delayMs, quietMs));
    while (!isQuiet() && elapsedMs() < delayMs + acceptMaxMs) await sleep(closeIntervalMs);
    const ended = open.map((server) => new Promise<void>((resolve) => void server.once("close", resolve)));
    await Promise.all(open.map((server) => stopAccepting(server, connections)));
    isLeaving = true;
    const timeout = setTimeout(() => {
      for (const server of open) server.closeAllConnections();
    }, closeTimeoutMs);
    const timer = setInterval(() => void closeIdle(connections.all.values()), closeIntervalMs);
    await Promise.all(ended);
    clearInterval(timer);
    clearTimeout(timeout);
  });
}

/**
 * Closes a listening socket. The kernel resets connections that it has accepted and Node has not, so the accept queue
 * is shortened to one and emptied. Then the socket is closed in the same moment as the next accept, or after
 * lastAcceptMs.
 */
async function stopAccepting(server: Server, connections: Connections): Promise<void> {
  // oxlint-disable-next-line eslint/no-underscore-dangle
  (server as { _handle?: { listen?: (backlog: number) => number } | null })._handle?.listen?.(0);
  const untilMs = performance.now() + emptyMsMax;
  let acceptedAtMs: number;
  // Node accepts one queued connection per iteration of the event loop.
  do {
    ({ acceptedAtMs } = connections);
    await afterPoll();
  } while (connections.acceptedAtMs !== acceptedAtMs && performance.now() < untilMs);
  await new Promise<void>((resolve) => {
    const close = (): void => {
      clearTimeout(timer);
      server.off("connection", close);
      server.close();
      resolve();
    };
    const timer = setTimeout(() => setImmediate(close), lastAcceptMs);
    // Before all other listeners, because a connection that comes between the accept and the close is reset.
    server.prependListener("connection", close);
  });
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
