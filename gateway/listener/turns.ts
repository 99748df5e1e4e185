/**
 * Handles one request of a connection at a time. Node emits all requests of a packet at once, so a client that
 * pipelines a hundred requests for large pages would have all answers in memory. Each request starts when the answer
 * before it has been taken by the kernel.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Connection, Connections } from "./connections.ts";

// Clients pipeline a few requests. A connection with more than this is closed.
const requestsWaitingMax = 100;

export function inTurn({ all }: Connections, handler: RequestListener): RequestListener {
  function begin(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    connection.answer = response;
    response.once("close", () => {
      connection.answer = null;
      connection.quietSinceMs = performance.now();
      connection.quietBytesRead = connection.socket.bytesRead;
      if (!connection.socket.destroyed) connection.waiting.shift()?.();
    });
    handler(request, response);
  }
  return (request, response) => {
    const connection = all.get(request.socket);
    if (!connection) {
      // The connection was closed while its bytes were parsed.
      request.socket.destroy();
    } else if (!connection.answer) {
      begin(connection, request, response);
    } else if (connection.waiting.length < requestsWaitingMax) {
      connection.waiting.push(() => begin(connection, request, response));
    } else {
      connection.socket.destroy();
    }
  };
}
