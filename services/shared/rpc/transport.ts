/** Calls between services over HTTP/2; in-process.ts calls within one process. */
import type { Transport } from "@connectrpc/connect";
import { showCredential, tellCall } from "./interceptors.ts";
import { createSessions, repeatRefused, type Connections, type Resolve } from "./sessions.ts";
import { unaryTransport } from "./unary-client.ts";

/** Bytes of one request: a batch of the largest size, with room for its envelope. */
export const requestBytesMax = 16 * 1024 * 1024;

/**
 * Megabytes of the running calls of one connection. All calls between two processes share a connection, and it would
 * refuse calls beyond this. The callers limit the number and the size of their calls.
 */
export const sessionMegabytesMax = 1024;

/**
 * Calls a service over HTTP/2 without TLS.
 * @param urls of its replicas, or one URL whose name has the addresses of all.
 * @param resolve finds the addresses of a name; by default as the operating system does.
 */
export function http2Transport(urls: string | readonly string[], credential: string, resolve?: Resolve): Transport {
  const list = typeof urls === "string" ? [urls] : urls;
  const transportOver = (connections: Connections): Transport =>
    unaryTransport(connections, [tellCall, showCredential(credential), repeatRefused]);
  const sessions = createSessions(list, { maxSessionMemory: sessionMegabytesMax }, resolve);
  const transport = transportOver(sessions);
  listReplicas.set(transport, async () =>
    [...(await sessions.replicas())].map(([address, connections]) => ({
      address,
      transport: transportOver(connections),
    })),
  );
  return transport;
}

/** An address of a service, and a transport whose calls go to it alone. */
export interface ReplicaTransport {
  /** Such as `http://10.0.0.7:8101`. */
  address: string;
  transport: Transport;
}

const listReplicas = new WeakMap<Transport, () => Promise<ReplicaTransport[]>>();

/**
 * The addresses of a service to which a transport of http2Transport spreads its calls; undefined for other transports.
 * @throws Error when no address is known, because the name cannot be looked up.
 */
export async function replicasOf(transport: Transport): Promise<ReplicaTransport[] | undefined> {
  return listReplicas.get(transport)?.();
}
