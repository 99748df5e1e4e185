/** Answers connections that yield no request: bytes that are not HTTP, or that do not arrive in time. */
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

// Time for the client to read the final answer and close its side.
const lingerMs = 2_000;

/** Answers what Node could not parse, or not in time. No request object exists, so the bytes are written here. */
export function answerClientError(
  error: Error & { code?: string },
  socket: Duplex,
  rateHeaders: () => Record<string, number>,
): void {
  // Reset by the client or closed already, so no answer can be sent.
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const answer = answerUnderWay(socket);
  if (answer?.req.complete) {
    // The error is in the bytes after this complete request, which is answered first.
    answer.once("finish", () => answerClientError(error, socket, rateHeaders));
    return;
  }
  // The client would take a second answer for the answer to its next request.
  if (answer?.headersSent) socket.end();
  else socket.end(answerText(refusalOf(error.code), answer?.req, rateHeaders()));
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}

/** The answer to the connection's first unanswered request. Node keeps it only in this private field. */
function answerUnderWay(socket: Duplex): ServerResponse | null {
  // oxlint-disable-next-line eslint/no-underscore-dangle
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
}

/** @param request as far as its head was read. */
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
