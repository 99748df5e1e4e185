/** Connections to NATS: opened when a server is there, kept until closed. */
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type NatsConnection, type NodeConnectionOptions } from "@nats-io/transport-node";
import type { Log } from "../../process/log.ts";
import type { Access } from "./access.ts";

/** The servers, and how a process connects to them. */
export interface Connecting {
  /** Addresses of one or more servers of a cluster. */
  servers: readonly string[];
  /** Credentials and TLS; without it the server must accept anonymous clients. */
  access?: Access | undefined;
  /** The name of the client in the server's monitoring. */
  name: string;
  log: Log;
}

/** Whether a connection has a server now, and how often it has connected. */
export interface ConnectionState {
  isConnected: boolean;
  session: number;
}

const connectTimeoutMs = 2_000;
const connectRetryMs = 250;
const reconnectWaitMs = 500;

/**
 * Connects as soon as a server is there. The connection then reconnects by itself.
 * @param away logged once, when the first attempt fails.
 * @param prepare runs on the new connection; a failure repeats the whole attempt.
 * @throws AbortError when `signal` is aborted.
 */
export async function connectPatiently(
  { servers, access, name, log }: Connecting,
  {
    away,
    signal,
    prepare,
    ...options
  }: NodeConnectionOptions & {
    away: string;
    signal?: AbortSignal | undefined;
    prepare?: (connection: NatsConnection) => Promise<void>;
  },
): Promise<NatsConnection> {
  for (let isFirst = true; ; isFirst = false) {
    signal?.throwIfAborted();
    let connection: NatsConnection | undefined;
    try {
      connection = await connect({
        ...options,
        ...access,
        servers: [...servers],
        name,
        timeout: connectTimeoutMs,
        maxReconnectAttempts: -1,
        reconnectTimeWait: reconnectWaitMs,
        // A server that comes back may not know its users yet.
        ignoreAuthErrorAbort: true,
        // Else each request makes two errors with their stacks, in case it fails.
        noAsyncTraces: true,
      });
      await prepare?.(connection);
      return connection;
    } catch (error) {
      await connection?.close();
      if (isFirst) log.warn({ err: error }, away);
      await sleep(connectRetryMs, undefined, signal ? { signal } : {});
    }
  }
}

/** Follows the state of a connection. */
export function watch(connection: NatsConnection): Readonly<ConnectionState> {
  const state = { isConnected: true, session: 1 };
  void (async () => {
    for await (const { type } of connection.status()) {
      if (type === "disconnect") state.isConnected = false;
      if (type !== "reconnect") continue;
      state.isConnected = true;
      state.session++;
    }
  })();
  return state;
}
