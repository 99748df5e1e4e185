/**
 * Receivers of webhooks: one that answers at once, one that never answers, one that takes 14 seconds, and one whose
 * headers have no end. Says over IPC where they are, and when asked how long messages took to the first.
 */
import { createServer } from "node:https";
import { createServer as createTlsServer } from "node:tls";
import type { AddressInfo, Server } from "node:net";

const { CERT: cert = "", KEY: key = "" } = process.env;
const slowMs = 14_000;
const timePattern = /"timestamp":"([^"]+)"/;
let latencies: number[] = [];

const healthy = createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text: string) => (body += text));
  request.on("end", () => {
    latencies.push(Date.now() - Date.parse(timePattern.exec(body)?.[1] ?? ""));
    response.writeHead(204).end();
  });
});
const slow = createServer({ cert, key }, (request, response) => {
  request.resume();
  setTimeout(() => response.writeHead(204).end(), slowMs);
});
const dead = createTlsServer({ cert, key }, (socket) => socket.on("error", () => undefined));
const hostile = createTlsServer({ cert, key }, (socket) => {
  socket
    .on("error", () => undefined)
    .once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const flood = (): void => {
        while (!socket.destroyed && socket.write("x-header: 0123456789\r\n".repeat(500)));
        if (!socket.destroyed) socket.once("drain", flood);
      };
      flood();
    });
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const ports = { healthy: await listen(healthy), slow: await listen(slow), dead: await listen(dead), hostile: 0 };
ports.hostile = await listen(hostile);
process.on("message", () => {
  process.send?.({ latencies });
  latencies = [];
});
process.on("disconnect", () => process.exit(0));
process.send?.(ports);
