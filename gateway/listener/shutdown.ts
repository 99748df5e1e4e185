/**
 * Stops a gateway without losing a request: each one that was sent is answered, or its connection was refused.
 *
 * 1. The gateway is unready and goes on as before, so that whoever balances can turn to others.
 * 2. It stops accepting, when no connection has come for a moment.
 * 3. Each connection ends with its next answer. One that asks for nothing is closed after a moment, once nothing of it is left unread.
 */
import type { Server } from "node:http";
import { setImmediate as afterPoll, setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { Readiness } from "../readiness.ts";
import type { Connection, Connections } from "./connections.ts";
import type { Listener } from "./listener.ts";

// Without a new connection for this long, nobody is on the way any more; but not longer than that beyond the delay.
const quietMs = 500;
const acceptMaxMs = 3_000;
// For those that wait to be accepted then, and for one more.
const emptyMsMax = 1_000;
const lastAcceptMs = 100;
// A connection that asks for nothing for so long is not in use.
const idleMs = 500;
const closeIntervalMs = 50;
// A request that has not arrived by then never will.
const closeTimeoutMs = 10_000;

/**
 * Adds the steps to the closing of a gateway.
 * @param delayMs how long it goes on accepting at least.
 */
export function closeGently(app: FastifyInstance, listener: Listener, readiness: Readiness, delayMs: number): void {
  const { connections, servers } = listener;
  let isClosing = false;
  let isLeaving = false;
  app.addHook("onSend", async (request, reply) => {
    if (!isClosing) return;
    const connection = connections.all.get(request.raw.socket);
    // Fastify ends the connection with any answer from now on. That would bring its client back at once, and lose what it has sent already.
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
 * Closes a listening socket. The system resets what it has accepted for us and we have not taken, so nothing may be left there: its queue is made as
 * short as it can be, which is one, and emptied. Then the socket is closed in the moment in which the next connection is taken, or when none comes.
 */
async function stopAccepting(server: Server, connections: Connections): Promise<void> {
  // oxlint-disable-next-line eslint/no-underscore-dangle
  (server as { _handle?: { listen?: (backlog: number) => number } | null })._handle?.listen?.(0);
  const untilMs = performance.now() + emptyMsMax;
  let acceptedAtMs: number;
  // Of those that wait one is taken in each turn of the event loop.
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
    server.on("connection", close);
  });
}

async function closeIdle(connections: Iterable<Connection>): Promise<void> {
  const nowMs = performance.now();
  const idle = [...connections].filter((connection) => isIdle(connection) && nowMs - connection.quietSinceMs > idleMs);
  // What has arrived by now is read before this goes on.
  await afterPoll();
  for (const connection of idle) if (isIdle(connection)) connection.socket.destroy();
}

function isIdle({ answer, socket, quietBytesRead }: Connection): boolean {
  return answer === null && socket.bytesRead === quietBytesRead;
}
