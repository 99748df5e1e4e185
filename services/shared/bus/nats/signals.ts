/**
 * Signals over NATS without JetStream. Neither a process start nor a signal waits for a server: signals are lost then.
 */
import type { NatsConnection } from "@nats-io/transport-node";
import type { Registry } from "prom-client";
import { createLocalSignals, measureSignals, type Signals } from "../signals.ts";
import { connectPatiently, watch, type Connecting, type ConnectionState } from "./connect.ts";
import type { Signer } from "./signature.ts";

// Outside the subjects of the stream, which would otherwise store signals.
const subjectPrefix = "daybook-signals.";
// A dead connection is closed once two pings are unanswered.
const pingIntervalMs = 5_000;
const pingsMax = 2;

/** Connects in the background until it is closed. */
export function connectNatsSignals({
  signer,
  registry,
  ...options
}: Connecting & {
  /** Signs signals. Signals without its signature are dropped. */
  signer: Signer;
  registry: Registry;
}): Signals {
  const { log } = options;
  // Handlers in this process need no server. NATS echoes none of this process's signals to them.
  const local = createLocalSignals(log);
  const subjects = new Set<string>();
  const closing = new AbortController();
  let connection: NatsConnection | undefined;
  let state: ConnectionState | undefined;
  let isListening = false;
  const { unsigned } = measureSignals(registry, "nats", () => isListening && state?.isConnected === true);

  function listen(to: NatsConnection, subject: string): void {
    to.subscribe(subjectPrefix + subject, {
      callback: (error, message) => {
        if (error) log.warn({ err: error, subject }, "a subject cannot be listened to");
        else if (signer.isSigned(message)) deliver(subject, message.data);
        else unsigned.inc();
      },
    });
  }

  function deliver(subject: string, payload: Uint8Array): void {
    try {
      local.publish(subject, payload);
    } catch (error) {
      // An error thrown here would end the client's read loop.
      log.warn({ err: error, subject }, "a signal was not taken");
    }
  }

  async function connect(): Promise<void> {
    const made = await connectPatiently(
      { ...options, name: `${options.name} signals` },
      {
        away: "NATS is away: signals are not heard",
        signal: closing.signal,
        noEcho: true,
        pingInterval: pingIntervalMs,
        maxPingOut: pingsMax,
      },
    );
    connection = made;
    state = watch(made);
    for (const subject of subjects) listen(made, subject);
    // The client repeats subscriptions when it reconnects.
    await made.flush().catch(() => undefined);
    isListening = true;
  }

  // It rejects only when the signals are closed first.
  const connecting = connect().catch(() => undefined);

  return {
    publish(subject, payload) {
      local.publish(subject, payload);
      // The client would buffer it until the server is back.
      if (!state?.isConnected) return;
      const headers = signer.sign(subjectPrefix + subject, payload);
      connection?.publish(subjectPrefix + subject, payload, { headers });
    },
    subscribe(subject, handler) {
      local.subscribe(subject, handler);
      if (subjects.has(subject)) return;
      subjects.add(subject);
      if (connection) listen(connection, subject);
    },
    async close() {
      closing.abort();
      await connecting;
      await connection?.drain().catch(() => connection?.close());
      await local.close();
    },
  };
}
