/** Closes connections whose clients do not read, because an unread answer stays in memory as long as its connection. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Counter, type Registry } from "prom-client";
import type { Connections } from "./connections.ts";
import type { ListenerLimits } from "./limits.ts";

/** Progress of an answer. */
interface Progress {
  answer: ServerResponse;
  bytesLeft: number;
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
      // An answer that is still being written waits for us, not for its client.
      if (!answer?.writableEnded) continue;
      const bytesLeft = bytesNotTaken(socket);
      const before = progress.get(socket);
      if (before?.answer !== answer) {
        progress.set(socket, { answer, bytesLeft, startedAtMs: nowMs, movedAtMs: nowMs });
        continue;
      }
      if (bytesLeft < before.bytesLeft) {
        before.bytesLeft = bytesLeft;
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

/** Bytes in the buffers of Node and libuv; only libuv shows the progress of a single large write. */
function bytesNotTaken(socket: Socket): number {
  // oxlint-disable-next-line eslint/no-underscore-dangle
  const { writeQueueSize = 0 } = (socket as { _handle?: { writeQueueSize?: number } | null })._handle ?? {};
  return socket.writableLength + writeQueueSize;
}
