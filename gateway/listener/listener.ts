/** The public listener: an HTTP server with limits per client that stops without losing a request. */
import { Server, type RequestListener, type ServerOptions } from "node:http";
import type { Registry } from "prom-client";
import type { IsTrusted } from "./addresses.ts";
import { createConnections, type Connections } from "./connections.ts";
import type { ListenerLimits } from "./limits.ts";
import { inTurn } from "./turns.ts";
import { closeUnreadAnswers } from "./unread-answers.ts";

export interface Listener {
  connections: Connections;
  /** One per address of the host. */
  servers: readonly Server[];
  serverFactory: (handler: RequestListener) => Server;
}

const headerBytesMax = 16 * 1024;
// Last resort: closes a connection on which nothing moves.
const silentTimeoutMs = 120_000;

/** Does not close idle connections on close: shutdown.ts closes them once none of their requests is left unread. */
class PatientServer extends Server {
  override closeIdleConnections(): void {
    // Node and Fastify call this as soon as the server is closed.
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
    // framing.ts refuses a missing Host in our error form; Node would answer with an empty body.
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
