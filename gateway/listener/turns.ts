/**
 * One request of a connection at a time. Node hands over all requests of a packet at once; a client that pipelines a hundred requests for large
 * pages and reads none of them would have them all made and kept. Here the next begins when the answer before has been taken by the system.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Connection, Connections } from "./connections.ts";

// Clients that pipeline have a few on the way. A connection with more than that is closed.
const requestsWaitingMax = 100;

/** @param handler answers a request. */
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
      // It was closed while its bytes were read.
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
