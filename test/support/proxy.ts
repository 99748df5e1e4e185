/** A TCP proxy whose server can be replaced or be down. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { Closable } from "#shared/process/lifecycle.ts";

export interface Proxy extends Closable {
  port: number;
  /** Sends new connections to a local port. Open connections stay. */
  sendTo(port: number): void;
  /** Breaks each connection after this many bytes from the client; 0 refuses connections, Infinity breaks none. */
  breakAfter(bytes: number): void;
}

/** Starts a proxy that refuses connections until `sendTo`. */
export async function startProxy(): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let target = 0;
  let bytesMax = Number.POSITIVE_INFINITY;
  const keep = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => other.destroy());
    socket.once("close", () => {
      sockets.delete(socket);
      other.end();
    });
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    if (bytesMax === 0 || target === 0) {
      client.on("error", () => undefined).destroy();
      return;
    }
    const upstream = connect({ host: "127.0.0.1", port: target, allowHalfOpen: true, noDelay: true });
    keep(client, upstream);
    keep(upstream, client);
    let bytes = 0;
    client.on("data", (chunk) => {
      bytes += chunk.length;
      if (bytes <= bytesMax) return;
      client.resetAndDestroy();
      upstream.destroy();
    });
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    sendTo(port) {
      target = port;
    },
    breakAfter(bytes) {
      bytesMax = bytes;
      if (bytes === 0) for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
