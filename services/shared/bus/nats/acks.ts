/** Confirmed acknowledgements: a server that went away may have missed the last ones, so they are repeated. */
import type { JsMsg } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { pause } from "../../scheduling/pause.ts";
import type { Closable } from "../../process/lifecycle.ts";
import { ackWaitMs } from "./stream.ts";

export interface Acks extends Closable {
  /** Acknowledges messages. */
  add(messages: readonly JsMsg[]): void;
}

const confirmTimeoutMs = 2_000;
const repeatDelayMs = 250;
const ackText = "+ACK";

/** Acknowledges the messages of a connection. The server bounds how many are unacknowledged. */
export function createAcks(connection: NatsConnection): Acks {
  const closing = new AbortController();
  const confirmations = new Set<Promise<void>>();

  async function confirm(subjects: readonly string[], last: string): Promise<void> {
    // After this the server redelivers the messages anyway, and the idempotent consumer acknowledges them again.
    const deadline = Date.now() + ackWaitMs;
    for (let isFirst = true; !closing.signal.aborted && Date.now() < deadline; isFirst = false) {
      try {
        if (!isFirst) for (const subject of subjects) connection.publish(subject, ackText);
        // The server reads in order, so its answer to the last confirms them all.
        await connection.request(last, ackText, { timeout: confirmTimeoutMs });
        return;
      } catch {
        await pause(repeatDelayMs, closing.signal);
      }
    }
  }

  return {
    add(messages) {
      const subjects = messages.map(ackSubjectOf);
      const last = subjects.pop();
      if (last === undefined) return;
      for (const message of messages.slice(0, -1)) message.ack();
      const confirmation = confirm(subjects, last).finally(() => confirmations.delete(confirmation));
      confirmations.add(confirmation);
    },
    async close() {
      closing.abort();
      await Promise.all(confirmations);
    },
  };
}

/** The subject that acknowledges a message. Every implementation has it, the client's type does not. */
function ackSubjectOf(message: JsMsg): string {
  return (message as JsMsg & { reply: string }).reply;
}
