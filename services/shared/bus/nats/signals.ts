/**
 * Signals over NATS, without JetStream. A server that is away stops nobody: nothing waits for it, neither the start nor a signal, and what is
 * signalled meanwhile is lost. The connection comes back by itself.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { Counter, Gauge, type Registry } from "prom-client";
import type { Log } from "../../process/log.ts";
import { createLocalSignals, type Signals } from "../signals.ts";
import type { Access } from "./access.ts";
import type { Signer } from "./signature.ts";

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
  /** Credentials and TLS; without it the server lets everybody in. */
  access?: Access | undefined;
  /** Signs signals; those that come without its signature are not heard. */
  signer: Signer;
  /** Names the process, to whoever looks at the server. */
  name: string;
  log: Log;
  registry: Registry;
}): Signals {
  const { signer, log, registry } = options;
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

  const unsigned = new Counter({
    name: "daybook_signals_unsigned_total",
    help: "Signals that were not heard because their signature was missing or wrong.",
    registers: [registry],
  });

  function listen(to: NatsConnection, subject: string): void {
    to.subscribe(subjectPrefix + subject, {
      callback: (error, message) => {
        if (error) log.warn({ err: error, subject }, "a subject cannot be listened to");
        else if (signer.isSigned(message)) hear(subject, message.data);
        else unsigned.inc();
      },
    });
  }

  function hear(subject: string, payload: Uint8Array): void {
    try {
      local.publish(subject, payload);
    } catch (error) {
      // What is thrown here would end the reading of the connection.
      log.warn({ err: error, subject }, "a signal was not taken");
    }
  }

  /** Resolves when the connection is closed for good, be it by us. */
  async function useConnection(): Promise<void> {
    const made = await connect({
      ...options.access,
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
      if (!isConnected) return;
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
      const open = connection;
      await open?.drain().catch(() => open.close());
      await working;
      await local.close();
    },
  };
}
