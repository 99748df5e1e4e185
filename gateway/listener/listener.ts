/** The public listener: an HTTP server that takes no more of anyone than its limits say, and that can be stopped without losing a request. */
import { Server, type RequestListener, type ServerOptions } from "node:http";
import type { Registry } from "prom-client";
import type { IsTrusted } from "./addresses.ts";
import { createConnections, type Connections } from "./connections.ts";
import type { ListenerLimits } from "./limits.ts";
import { inTurn } from "./turns.ts";
import { closeUnreadAnswers } from "./unread-answers.ts";

/** What a gateway listens with. */
export interface Listener {
  connections: Connections;
  /** More than one if its host has more than one address. */
  servers: readonly Server[];
  /** As Fastify asks for it. */
  serverFactory: (handler: RequestListener) => Server;
}

const headerBytesMax = 16 * 1024;
// The last resort: whatever else may be the matter with a connection, it does not stay when nothing moves on it.
const silentTimeoutMs = 120_000;

/** Leaves idle connections open when it is closed: shutdown.ts closes them when it has looked that no request of theirs is left unread. */
class PatientServer extends Server {
  override closeIdleConnections(): void {
    // Node and Fastify call it as soon as the server is closed.
  }
}

export function createListener(limits: ListenerLimits, isTrusted: IsTrusted, registry: Registry): Listener {
  const connections = createConnections(limits, isTrusted, registry);
  const stopChecking = closeUnreadAnswers(connections, limits, registry);
  const servers: Server[] = [];
  const options: ServerOptions = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.timeoutsCheckMs,
    maxHeaderSize: headerBytesMax,
    // Answered like any other, in our own form, not by Node with an empty one.
    requireHostHeader: false,
  };
  return {
    connections,
    servers,
    serverFactory(handler) {
      const server = new PatientServer(options, inTurn(connections, handler));
      server.setTimeout(silentTimeoutMs);
      connections.watch(server);
      servers.push(server);
      server.once("close", stopChecking);
      return server;
    },
  };
}
