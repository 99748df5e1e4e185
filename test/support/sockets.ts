/** Raw socket clients, such as ones that never read. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Connects to the host of a URL. @param localAddress source address. */
export async function openSocket(baseUrl: string, localAddress?: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port), ...(localAddress && { localAddress }) });
  // Servers reset excess connections.
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** Resolves when a socket is closed, also by an error. */
export function closeOf(socket: Socket): Promise<undefined> {
  return new Promise((resolve) => socket.once("close", () => resolve(undefined)));
}

/** Opens sockets that send a text and never read. */
export function openNonReaders(baseUrl: string, count: number, text: string): Promise<Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = await openSocket(baseUrl);
      socket.pause();
      socket.write(text);
      return socket;
    }),
  );
}

/** A GET request as text. */
export function getText(path: string, secret: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\n\r\n`;
}
