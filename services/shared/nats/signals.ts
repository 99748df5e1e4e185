/**
 * Signals over NATS, without JetStream. A server that is away stops nobody: nothing waits for it, neither the start nor a signal, and what is
 * signalled meanwhile is lost. The connection comes back by itself.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { Gauge, type Registry } from "prom-client";
import type { Log } from "../log.ts";
import { createLocalSignals, type Signals } from "../signals.ts";

// Not below the subjects of the bus, or its stream would keep what is of no use a moment later.
const subjectPrefix = "daybook-signals.";
const connectTimeoutMs = 2_000;
const connectRetryMs = 500;
// A connection that died without a word is noticed after two of them.
const pingIntervalMs = 5_000;
const pingsMax = 2;

/** Begins to connect, and goes on until it is closed. */
export function connectNatsSignals(options: {
  servers: readonly string[];
  /** Names the process, to whoever looks at the server. */
  name: string;
  log: Log;
  registry: Registry;
}): Signals {
  const { log, registry } = options;
  // Listeners in this process are told without a server. It sends them nothing of their own process.
  const local = createLocalSignals(log);
  const subjects = new Set<string>();
  const closing = new AbortController();
  let connection: NatsConnection | undefined;
  let isConnected = false;
  let isToldAway = false;
  registry.registerMetric(
    new Gauge({
      name: "daybook_signals_connected",
      help: "Whether signals of other processes arrive here: 1, or 0 while NATS is away.",
      registers: [],
      collect() {
        this.set(isConnected ? 1 : 0);
      },
    }),
  );

  function listen(to: NatsConnection, subject: string): void {
    to.subscribe(subjectPrefix + subject, {
      callback: (error, message) => {
        if (error) log.warn({ err: error, subject }, "a subject cannot be listened to");
        else hear(subject, message.data);
      },
    });
  }

  function hear(subject: string, payload: Uint8Array): void {
    try {
      local.publish(subject, payload);
    } catch (error) {
      // Anybody on the server can send one that is too large. What is thrown here would end the reading of the connection.
      log.warn({ err: error, subject }, "a signal was not taken");
    }
  }

  /** Resolves when the connection is closed for good, be it by us. */
  async function useConnection(): Promise<void> {
    const made = await connect({
      servers: [...options.servers],
      name: `${options.name} signals`,
      noEcho: true,
      timeout: connectTimeoutMs,
      maxReconnectAttempts: -1,
      reconnectTimeWait: connectRetryMs,
      pingInterval: pingIntervalMs,
      maxPingOut: pingsMax,
    });
    connection = made;
    try {
      if (closing.signal.aborted) return;
      const statuses = made.status();
      for (const subject of subjects) listen(made, subject);
      await made.flush();
      isConnected = true;
      for await (const { type } of statuses) {
        if (type === "disconnect") isConnected = false;
        if (type === "reconnect") isConnected = true;
      }
    } finally {
      connection = undefined;
      isConnected = false;
      await made.close();
    }
  }

  const working = (async () => {
    while (!closing.signal.aborted) {
      await useConnection().catch((error: unknown) => {
        if (!isToldAway && !closing.signal.aborted) log.warn({ err: error }, "NATS is away: signals are not heard");
        isToldAway = true;
      });
      await sleep(connectRetryMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  })();

  return {
    publish(subject, payload) {
      local.publish(subject, payload);
      // The client would keep it for a server that is away, however long.
      if (isConnected) connection?.publish(subjectPrefix + subject, payload);
    },
    subscribe(subject, handler) {
      local.subscribe(subject, handler);
      if (subjects.has(subject)) return;
      subjects.add(subject);
      if (connection) listen(connection, subject);
    },
    async close() {
      closing.abort();
      const open = connection;
      await open?.drain().catch(() => open.close());
      await working;
      await local.close();
    },
  };
}
