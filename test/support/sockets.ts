/** Clients that a test holds by their sockets: those that send and never read, and those that send again and again. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Connects to where a URL points. @param localAddress where from. */
export async function openSocket(baseUrl: string, localAddress?: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port), ...(localAddress && { localAddress }) });
  // Servers that close what is too much do so with a reset.
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** Resolves when a socket is closed, be it by an error. */
export function closeOf(socket: Socket): Promise<undefined> {
  return new Promise((resolve) => socket.once("close", () => resolve(undefined)));
}

/** Opens sockets that send a text and read nothing of what is answered. */
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

/** A request without a body. */
export function getText(path: string, secret: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\n\r\n`;
}
