/** Connections to NATS: opened once a server is there, and kept until they are closed. */
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type NatsConnection, type NodeConnectionOptions } from "@nats-io/transport-node";
import type { Log } from "../../process/log.ts";
import type { Access } from "./access.ts";

/** Which servers a process connects to, and as whom. */
export interface Connecting {
  /** Addresses of one or more servers of a cluster. */
  servers: readonly string[];
  /** Credentials and TLS; without it the server lets everybody in. */
  access?: Access | undefined;
  /** Names the process, to whoever looks at the server. */
  name: string;
  log: Log;
}

/** Whether a connection has a server at the moment, and how many it has had. */
export interface ConnectionState {
  isConnected: boolean;
  session: number;
}

const connectTimeoutMs = 2_000;
const connectRetryMs = 250;
const reconnectWaitMs = 500;

/**
 * Connects as soon as a server is there. The connection then reconnects by itself.
 * @param away is logged, once, when no server is there at first.
 * @param prepare runs on the new connection; when it fails, everything is tried again.
 * @throws AbortError when `signal` ends the waiting.
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
