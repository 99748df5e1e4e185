/** Closes connections whose clients do not read: an answer that nobody takes stays in memory for as long as its connection. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Counter, type Registry } from "prom-client";
import type { Connections } from "./connections.ts";
import type { ListenerLimits } from "./limits.ts";

/** How far an answer has come. */
interface Progress {
  answer: ServerResponse;
  bytesLeft: number;
  startedAtMs: number;
  movedAtMs: number;
}

/** @returns what ends it. */
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
      // Until it is handed over whole, it is we who are at work.
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
      // With a reset, or the system would go on keeping what it has of the answer.
      socket.resetAndDestroy();
    }
  };
  const timer = setInterval(check, timeoutsCheckMs).unref();
  return () => clearInterval(timer);
}

/** Of what was written to a socket: in Node's hands, and in those of libuv, which alone tells how far one large write has come. */
function bytesNotTaken(socket: Socket): number {
  // oxlint-disable-next-line eslint/no-underscore-dangle
  const { writeQueueSize = 0 } = (socket as { _handle?: { writeQueueSize?: number } | null })._handle ?? {};
  return socket.writableLength + writeQueueSize;
}
