/**
 * Load over HTTP/1.1 with a fixed number of connections, each with one request at a time. Requests are built beforehand
 * and only the head of an answer is parsed, because the generator shares the machine with what it measures. It takes a
 * quarter less CPU time than autocannon, and thousands of different bodies cost no more than one.
 */
import { connect, type Socket } from "node:net";
import { percentile } from "./stats.ts";

export interface LoadOptions {
  /** Such as `http://127.0.0.1:8080`. */
  address: string;
  /** From toRequest; sent round-robin over all connections. */
  requests: readonly Buffer[];
  connections: number;
  seconds: number;
  /** Requests per second in total, evenly spaced; default: as many as the connections carry. */
  perSecond?: number;
  /** Changes a request in place before it is sent, such as a header that must differ. */
  stamp?: (request: Buffer) => void;
  /** Accepts 429 as an answer. Without it, 429 fails like any other status that is not 2xx. */
  mayBeRefused?: true;
  signal: AbortSignal;
}

/** Results. Every request had an answer, and all were 2xx except accepted 429s. */
export interface LoadResult {
  requests: number;
  /** Requests answered with 429. */
  refused: number;
  /** From the first request to the last answer. */
  elapsedS: number;
  p50Ms: number;
  p99Ms: number;
}

// Counted from the last request.
const answerTimeoutMs = 10_000;
const excerptBytesMax = 500;
const headEnd = "\r\n\r\n";

/** The bytes of a request. */
export function toRequest(
  method: string,
  path: string,
  key: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const head = [
    `${method} ${path} HTTP/1.1`,
    "host: localhost",
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(head.join("\r\n") + headEnd + body);
}

/**
 * Sends requests for this many seconds and waits for the last answers.
 * @throws Error at the first answer that is not 2xx, broken connection, or missing answer.
 */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const { address, requests, connections, seconds, perSecond, stamp, mayBeRefused = false, signal } = options;
  const { hostname, port } = new URL(address);
  const latencies: number[] = [];
  let cursor = 0;
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(hostname, Number(port))));
  const timeout = AbortSignal.timeout(seconds * 1000 + answerTimeoutMs);
  const startMs = performance.now();
  const stopMs = startMs + seconds * 1000;
  let sent = 0;
  let refused = 0;
  /** When the next request is due. */
  const nextDueMs = (): number => (perSecond === undefined ? 0 : startMs + (sent++ * 1000) / perSecond);
  try {
    await Promise.all(
      sockets.map((socket) =>
        converse(socket, AbortSignal.any([signal, timeout]), {
          next() {
            const request = performance.now() < stopMs ? requests[cursor++ % requests.length] : undefined;
            if (request) stamp?.(request);
            return request;
          },
          dueInMs: () => nextDueMs() - performance.now(),
          mayBeRefused,
          answered(latencyMs, isRefused) {
            latencies.push(latencyMs);
            if (isRefused) refused++;
          },
        }),
      ),
    );
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  const elapsedS = (performance.now() - startMs) / 1000;
  const sorted = Float64Array.from(latencies).toSorted();
  const [p50Ms, p99Ms] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
  return { requests: sorted.length, refused, elapsedS, p50Ms, p99Ms };
}

async function open(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return socket;
}

interface Conversation {
  /** The next request; undefined at the end. */
  next: () => Buffer | undefined;
  /** Delay before it; 0 if it is late. */
  dueInMs: () => number;
  mayBeRefused: boolean;
  answered: (latencyMs: number, isRefused: boolean) => void;
}

function converse(socket: Socket, signal: AbortSignal, conversation: Conversation): Promise<void> {
  const { next, dueInMs, mayBeRefused, answered } = conversation;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let sentMs = 0;
  let received: Buffer = Buffer.alloc(0);
  // Length of the whole answer; 0 until its head is complete.
  let expected = 0;
  let isRefused = false;
  let receivedBytes = 0;
  const send = (): void => {
    const waitMs = dueInMs();
    if (waitMs > 0) setTimeout(sendNow, waitMs);
    else sendNow();
  };
  const sendNow = (): void => {
    if (socket.destroyed) return;
    const request = next();
    if (!request) return resolve();
    sentMs = performance.now();
    socket.write(request);
  };
  const receive = (chunk: Buffer): void => {
    receivedBytes += chunk.length;
    if (expected === 0) {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      isRefused = mayBeRefused && isRefusal(received);
      expected = answerBytes(received, isRefused);
      if (expected === 0) return;
    }
    if (receivedBytes < expected) return;
    if (receivedBytes > expected) throw new Error("more came back than was asked for");
    answered(performance.now() - sentMs, isRefused);
    received = Buffer.alloc(0);
    expected = receivedBytes = 0;
    send();
  };
  socket.on("data", (chunk: Buffer) => {
    try {
      receive(chunk);
    } catch (error) {
      reject(error);
    }
  });
  socket.once("error", reject);
  socket.once("close", () => reject(new Error("the server closed a connection")));
  const abort = (): void => reject(signal.reason as Error);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  send();
  return promise.finally(() => signal.removeEventListener("abort", abort));
}

/** Whether an answer is 429. */
function isRefusal(received: Buffer): boolean {
  // HTTP/1.1 429
  return received.toString("latin1", 9, 12) === "429";
}

/** The length of an answer with its head; 0 until the head is complete. */
function answerBytes(received: Buffer, isRefused: boolean): number {
  const end = received.indexOf(headEnd);
  if (end < 0) return 0;
  const head = received.toString("latin1", 0, end);
  // HTTP/1.1 2xx
  if (head[9] !== "2" && !isRefused)
    throw new Error(`An answer is not 2xx:\n${received.toString("utf8", 0, excerptBytesMax)}`);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`An answer does not tell its length:\n${head}`);
  return end + headEnd.length + Number(length);
}
