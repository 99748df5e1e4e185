/** How services reach each other over HTTP/2. Within one process they do as in-process.ts tells. */
import type { Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { showCredential, tellCall } from "./interceptors.ts";
import { createSessions, repeatRefused } from "./sessions.ts";

/** Bytes of one request: a batch of the largest size, with room for its envelope. */
export const requestBytesMax = 16 * 1024 * 1024;

/**
 * Megabytes of one connection's calls that are on their way. A call beyond would be refused, however small, and all calls between two processes
 * share a connection; how many there are and how large is limited where they are made.
 */
export const sessionMegabytesMax = 1024;

/** Calls the service at `url` over HTTP/2 without TLS. */
export function http2Transport(url: string, credential: string): Transport {
  return createConnectTransport({
    baseUrl: url,
    httpVersion: "2",
    interceptors: [tellCall, showCredential(credential), repeatRefused],
    // Within one cluster the time to compress costs more than the bytes saved.
    acceptCompression: [],
    sessionManager: createSessions(url, { maxSessionMemory: sessionMegabytesMax }),
  });
}
