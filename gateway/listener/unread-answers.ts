/**
 * Closes connections whose clients do not read, because an unread answer stays in memory as long as its connection, and
 * a stream that is not read holds whatever makes it.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Counter, type Registry } from "prom-client";
import type { Connections } from "./connections.ts";
import type { ListenerLimits } from "./limits.ts";

/** Progress of an answer. */
interface Progress {
  answer: ServerResponse;
  /** Bytes that the kernel has taken. */
  bytesTaken: number;
  /** When it was written completely, or since then. */
  startedAtMs: number;
  movedAtMs: number;
}

/** @returns a function that stops the checks. */
export function closeUnreadAnswers(
  { all }: Connections,
  { answerStalledMs, answerTimeoutMs, timeoutsCheckMs }: ListenerLimits,
  registry: Registry,
): () => void {
  const closed = new Counter({
    name: "daybook_http_unread_answers_total",
    help: "Connections that were closed because their client did not read the answer.",
    registers: [registry],
  });
  const progress = new WeakMap<Socket, Progress>();
  const check = (): void => {
    const nowMs = performance.now();
    for (const { socket, answer } of all.values()) {
      if (!answer) continue;
      const { bytesTaken, bytesQueued } = transferOf(socket);
      const before = progress.get(socket);
      if (before?.answer !== answer) {
        progress.set(socket, { answer, bytesTaken, startedAtMs: nowMs, movedAtMs: nowMs });
        continue;
      }
      // One that is still being written waits for us while nothing is left for its client to read. A stream has a
      // limit of its own for all of it.
      if (!answer.writableEnded) before.startedAtMs = nowMs;
      if (bytesTaken > before.bytesTaken || (bytesQueued === 0 && !answer.writableEnded)) {
        before.bytesTaken = bytesTaken;
        before.movedAtMs = nowMs;
      }
      if (nowMs - before.movedAtMs < answerStalledMs && nowMs - before.startedAtMs < answerTimeoutMs) continue;
      closed.inc();
      // A reset makes the kernel free its part of the answer.
      socket.resetAndDestroy();
    }
  };
  const timer = setInterval(check, timeoutsCheckMs).unref();
  return () => clearInterval(timer);
}

/** What the kernel has taken, and what waits in the buffers of Node and libuv. */
function transferOf(socket: Socket): { bytesTaken: number; bytesQueued: number } {
  // Only libuv shows the progress of a single large write.
  const { _handle: handle } = socket as { _handle?: { bytesWritten?: number; writeQueueSize?: number } | null };
  const { bytesWritten = 0, writeQueueSize = 0 } = handle ?? {};
  return { bytesTaken: bytesWritten - writeQueueSize, bytesQueued: socket.writableLength + writeQueueSize };
}
