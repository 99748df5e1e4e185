/**
 * Signals over NATS, without JetStream. Nothing waits for a server: neither the start of a process nor a signal. Signals that are
 * published while the server is away are lost.
 */
import type { NatsConnection } from "@nats-io/transport-node";
import { Counter, Gauge, type Registry } from "prom-client";
import { createLocalSignals, type Signals } from "../signals.ts";
import { connectPatiently, watch, type Connecting, type ConnectionState } from "./connect.ts";
import type { Signer } from "./signature.ts";

// Not below the subjects of the bus, or its stream would keep what is of no use a moment later.
const subjectPrefix = "daybook-signals.";
// A connection that died silently is noticed after two of them.
const pingIntervalMs = 5_000;
const pingsMax = 2;

/** Begins to connect, and goes on until it is closed. */
export function connectNatsSignals({
  signer,
  registry,
  ...options
}: Connecting & {
  /** Signs signals; those that come without its signature are dropped. */
  signer: Signer;
  registry: Registry;
}): Signals {
  const { log } = options;
  // Handlers in this process need no server. It sends them no signal of their own process.
  const local = createLocalSignals(log);
  const subjects = new Set<string>();
  const closing = new AbortController();
  let connection: NatsConnection | undefined;
  let state: ConnectionState | undefined;
  let isListening = false;
  registry.registerMetric(
    new Gauge({
      name: "daybook_signals_connected",
      help: "Whether signals of other processes arrive here: 1, or 0 while NATS is away.",
      registers: [],
      collect() {
        this.set(isListening && state?.isConnected ? 1 : 0);
      },
    }),
  );

  const unsigned = new Counter({
    name: "daybook_signals_unsigned_total",
    help: "Signals that were not heard because their signature was missing or wrong.",
    registers: [registry],
  });

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
      // An error thrown here would end the reading of the connection.
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
    // A server that goes away meanwhile is told of the subjects when it is back.
    await made.flush().catch(() => undefined);
    isListening = true;
  }

  // It fails only when it is closed first.
  const connecting = connect().catch(() => undefined);

  return {
    publish(subject, payload) {
      local.publish(subject, payload);
      // The client would keep it for a server that is away, however long.
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
