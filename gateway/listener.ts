/** The public listener: what it takes before there is a request, and what it answers when there will be none. */
import { STATUS_CODES } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyInstance } from "fastify";
import { Counter, type Registry } from "prom-client";
import type { DaybookError } from "#shared/errors.ts";
import { newId } from "#shared/ids.ts";
import { newestRevision } from "#shared/revisions.ts";
import { renderErrors as renderCompatErrors } from "./compat/errors.ts";
import { isCompatPath, normalizeUrl } from "./compat/paths.ts";
import { mediaType } from "./compat/reply.ts";
import { renderError } from "./native/errors.ts";
import { securityHeaders } from "./plugins/security-headers.ts";
import { notHttp, notInTime, tooLargeHeaders } from "./refusals.ts";

/** What a client may take of a gateway. */
export interface ListenerLimits {
  /** Connections at a time. Those beyond are closed at once and unread, and counted. */
  connectionsMax: number;
  /** For the headers to arrive, from the first byte of the connection or the end of the request before. */
  headersTimeoutMs: number;
  /** For the whole request to arrive. */
  requestTimeoutMs: number;
  /** How often the two are looked at. */
  timeoutsCheckMs: number;
}

/** The limits of every gateway; tests have others. */
export const listenerLimits: ListenerLimits = {
  connectionsMax: 10_000,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 30_000,
  timeoutsCheckMs: 2_000,
};

const keepAliveTimeoutMs = 72_000;
const headerBytesMax = 16 * 1024;
// After an answer that ends a connection: for the client to read it, and to close its side.
const lingerMs = 2_000;
// Of a body that is refused for its length.
const readOutBytesMax = 64 * 1024 * 1024;

/** The limits as options of Fastify. */
export function listenerOptions({ headersTimeoutMs, requestTimeoutMs, timeoutsCheckMs }: ListenerLimits) {
  return {
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    http: {
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: timeoutsCheckMs,
      maxHeaderSize: headerBytesMax,
      // Answered like any other, in our own form, not by Node with an empty one.
      requireHostHeader: false,
    },
    // RFC 9112, section 3.2.2: a target in absolute form is to be taken.
    rewriteUrl: ({ url = "/" }: { url?: string }) =>
      normalizeUrl(url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*(?=\/)/i, "")),
  };
}

/**
 * Reads a body that is too large to its end when it says how long it is, so that its sender, who may read nothing before all is written, gets the
 * answer instead of a connection that breaks. Others are read for a moment: a connection that is closed with bytes unread takes the answer along.
 */
export function readOutRefusedBodies(app: FastifyInstance): void {
  app.addHook("onSend", async ({ headers, raw }, reply) => {
    if (reply.statusCode !== 413) return;
    void reply.removeHeader("connection");
    raw.resume();
    if (Number(headers["content-length"] ?? Number.POSITIVE_INFINITY) <= readOutBytesMax) return;
    const timer = setTimeout(() => raw.socket.destroy(), lingerMs);
    for (const over of ["end", "close"]) raw.once(over, () => clearTimeout(timer));
  });
}

/** Limits the connections of a listener. */
export function limitConnections(server: Server, { connectionsMax }: ListenerLimits, registry: Registry): void {
  const dropped = new Counter({
    name: "daybook_http_connections_dropped_total",
    help: "Connections that were closed unread, as there were too many.",
    registers: [registry],
  });
  server.maxConnections = connectionsMax;
  server.on("drop", () => dropped.inc());
}

/** Answers what Node could not read as a request, or not in time. There is no request to go by, so the bytes are written here. */
export function answerClientError(
  error: Error & { code?: string },
  socket: Duplex,
  rateHeaders: () => Record<string, number>,
): void {
  // Reset by the client, or closed already: there is nobody to tell.
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const answer = answerUnderWay(socket);
  if (answer?.req.complete) {
    // It is what came behind that request which is at fault: the request itself is still to be answered.
    answer.once("finish", () => answerClientError(error, socket, rateHeaders));
    return;
  }
  // Two answers to one request would be taken for the answer to the next.
  if (answer?.headersSent) socket.end();
  else socket.end(answerText(refusalOf(error.code), answer?.req, rateHeaders()));
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}

/** The first request of a connection that has no whole answer yet. Node tells it by this field alone, which its own handler uses too. */
function answerUnderWay(socket: Duplex): ServerResponse | null {
  // oxlint-disable-next-line eslint/no-underscore-dangle
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
}

/** @param request what is known of it, if its head was read. */
function answerText(
  refusal: DaybookError,
  request: IncomingMessage | undefined,
  rateHeaders: Record<string, number>,
): string {
  const requestId = newId("req");
  const isCompat = isCompatPath(normalizeUrl(request?.url ?? ""));
  const asked = { method: request?.method ?? "", is404: false };
  const body = JSON.stringify(isCompat ? renderCompatErrors(refusal, asked) : renderError(refusal, requestId));
  const headers = {
    "content-type": isCompat ? mediaType : "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId,
    "service-version": newestRevision,
    ...rateHeaders,
    ...securityHeaders,
    connection: "close",
  };
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

function refusalOf(code: string | undefined): DaybookError {
  if (code === "HPE_HEADER_OVERFLOW") return tooLargeHeaders("The headers are larger than 16 KB.");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return notInTime();
  return notHttp();
}
