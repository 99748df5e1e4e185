/** Receivers of webhooks: real servers behind real TLS, also such that do what no receiver should. */
import { once } from "node:events";
import type { IncomingHttpHeaders, RequestListener, ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import { generate } from "selfsigned";
import type { Closable, Owner } from "#shared/process/lifecycle.ts";

/** A certificate authority, and a certificate of it for the names of the tests. */
export interface Authority {
  /** In PEM form, as NODE_EXTRA_CA_CERTS has it. */
  ca: string;
  cert: string;
  key: string;
}

const names = ["localhost", "receiver.test", "*.receiver.test"];

/** Makes an authority, and a certificate for localhost, receiver.test and its sub-domains, and 127.0.0.1. */
export async function createAuthority(): Promise<Authority> {
  const made = { keyType: "ec" as const, curve: "P-256" as const, algorithm: "sha256" };
  const { cert: ca, private: caKey } = await generate([{ name: "commonName", value: "Test CA" }], {
    ...made,
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, critical: true },
    ],
  });
  const altNames = [...names.map((value) => ({ type: 2 as const, value })), { type: 7 as const, ip: "127.0.0.1" }];
  const { cert, private: key } = await generate([{ name: "commonName", value: "receiver.test" }], {
    ...made,
    ca: { key: caKey, cert: ca },
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "subjectAltName", altNames },
    ],
  });
  return { ca, cert, key };
}

/** Has this process trust an authority, until the owner closes. Other processes take NODE_EXTRA_CA_CERTS. */
export function trust({ ca }: Authority, owner: Owner): void {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, ca]);
  owner.defer(() => Promise.resolve(setDefaultCACertificates(before)));
}

/** A request as it came. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** In milliseconds since 1970. */
  at: number;
}

export interface Receiver extends Closable {
  port: number;
  /** https at 127.0.0.1. */
  url: string;
  received: Received[];
  /** Connections so far. */
  connections: () => number;
  /** Replaces how it answers. */
  answer: (how: Answering) => void;
}

/** Answers a request whose body was read. */
export type Answering = (response: ServerResponse, request: Received) => void;

/** Starts a receiver behind TLS, which answers 204 at first. */
export async function startReceiver({ cert, key }: Authority, how: Answering = accept): Promise<Receiver> {
  const received: Received[] = [];
  let answering = how;
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { url: path = "", headers } = request;
      const entry = { path, headers, body: Buffer.concat(chunks).toString(), at: Date.now() };
      received.push(entry);
      answering(
        response.on("error", () => undefined),
        entry,
      );
    });
  };
  const server = createHttpsServer({ cert, key, keepAliveTimeout: 30_000 }, listener);
  server.on("connection", () => connections++);
  const closing = await listen(server);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://127.0.0.1:${port}/hook`,
    received,
    connections: () => connections,
    answer: (other) => (answering = other),
    close: () => closing.close(),
  };
}

/** Answers 204. */
export const accept: Answering = (response) => void response.writeHead(204).end();

/** Answers 204 after a while. */
export function acceptAfter(ms: number): Answering {
  return (response, request) => void setTimeout(() => accept(response, request), ms);
}

/** Answers with a status, headers and a body. */
export function reply(status: number, headers: Record<string, string> = {}, body = ""): Answering {
  return (response) => void response.writeHead(status, headers).end(body);
}

/** A server that does with a connection what it likes. */
export interface Listener extends Closable {
  port: number;
  connections: () => number;
}

/** Starts a server at 127.0.0.1 or another address; behind TLS if an authority is given. */
export async function startListener(
  onSocket: (socket: Socket) => void,
  { authority, host = "127.0.0.1" }: { authority?: Authority; host?: string } = {},
): Promise<Listener> {
  let connections = 0;
  const handle = (socket: Socket): void => onSocket(socket.on("error", () => undefined));
  const server = authority
    ? createTlsServer({ cert: authority.cert, key: authority.key }, handle)
    : createTcpServer(handle);
  server.on("connection", () => connections++);
  const closing = await listen(server, host);
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    close: () => closing.close(),
  };
}

async function listen(server: ReturnType<typeof createTcpServer>, host = "127.0.0.1"): Promise<Closable> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket.on("error", () => undefined));
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, host);
  await once(server, "listening");
  return {
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
