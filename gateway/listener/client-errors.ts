/** What the listener answers when there will be no request: bytes that are no HTTP, or that do not come in time. */
import { STATUS_CODES } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { DaybookError } from "#shared/values/errors.ts";
import { newId } from "#shared/values/ids.ts";
import { newestRevision } from "#shared/values/revisions.ts";
import { renderErrors as renderCompatErrors } from "../compat/errors.ts";
import { isCompatPath, normalizeUrl } from "../compat/paths.ts";
import { mediaType } from "../compat/reply.ts";
import { renderError } from "../native/errors.ts";
import { securityHeaders } from "../plugins/security-headers.ts";
import { notHttp, notInTime, tooLargeHeaders } from "../refusals.ts";

// After an answer that ends a connection: for the client to read it, and to close its side.
const lingerMs = 2_000;

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
