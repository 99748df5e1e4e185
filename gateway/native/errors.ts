/** Errors of the native surface, in the form of the revision that the request is answered in. */
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { DaybookError, internalError } from "#shared/errors.ts";
import { newId } from "#shared/ids.ts";
import type { Log } from "#shared/log.ts";
import { newestRevision } from "#shared/revisions.ts";
import { renderError as renderGuideError } from "./revisions/2026-05-01.ts";

/** What Fastify refuses by itself. */
const errorOfFastify: Readonly<Record<string, () => DaybookError>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new DaybookError("unsupported_media_type", "The body must come with Content-Type: application/json."),
  FST_ERR_CTP_BODY_TOO_LARGE: () => new DaybookError("request_too_large", "The body is larger than 2 MB."),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => new DaybookError("invalid_json", "The body is empty."),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new DaybookError("bad_request", "The body is not as long as Content-Length says."),
  FST_ERR_BAD_URL: () => new DaybookError("bad_request", "The path is not valid."),
};

/** Makes an error ours, whatever it was. */
export function toDaybookError(error: unknown): DaybookError {
  if (error instanceof DaybookError) return error;
  const { code, statusCode } = error as Partial<FastifyError>;
  const known = code === undefined ? undefined : errorOfFastify[code];
  if (known) return known();
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new DaybookError("bad_request", "The request is not valid.", { cause: error });
  }
  return internalError(error);
}

/** Answers with an error. */
export function sendError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const ours = toDaybookError(error);
  if (ours.status >= 500) {
    const { method } = request;
    log.error(
      { err: ours.cause ?? ours, requestId: request.id, method, route: request.routeOptions.url },
      ours.message,
    );
  }
  if (ours.retryAfterMs !== null) void reply.header("retry-after", Math.ceil(ours.retryAfterMs / 1000));
  if (ours.status === 401) void reply.header("www-authenticate", "Bearer");
  const body = request.revision === "2026-05-01" ? renderGuideError(ours, request.id) : renderError(ours, request.id);
  return reply.code(ours.status).type("application/json; charset=utf-8").send(JSON.stringify(body));
}

/** Answers a path that is not there. */
export function sendNotFound(log: Log, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendError(log, new DaybookError("resource_not_found", "There is no such path."), request, reply);
}

/** Answers what Node could not read as a request. There is no request to go by, so the bytes are written here. */
export function sendClientError(
  error: Error & { code?: string },
  socket: Duplex,
  rateHeaders: Record<string, number>,
): void {
  // Reset by the client, or answered in part already: there is nothing to say.
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, refusal] = refuseClient(error.code);
  const requestId = newId("req");
  const body = JSON.stringify(renderError(refusal, requestId));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    `service-version: ${newestRevision}`,
    ...Object.entries(rateHeaders).map(([name, value]) => `${name}: ${value}`),
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function refuseClient(code: string | undefined): [status: number, error: DaybookError] {
  if (code === "HPE_HEADER_OVERFLOW") return [431, new DaybookError("request_too_large", "The headers are too large.")];
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return [408, new DaybookError("bad_request", "The request did not arrive in time.")];
  }
  return [400, new DaybookError("bad_request", "This is not a valid HTTP request.")];
}

function renderError(error: DaybookError, requestId: string): object {
  return {
    error: {
      type: error.type,
      code: error.code,
      message: error.message,
      param: error.param,
      request_id: requestId,
      retryable: error.retryable,
      retry_after_ms: error.retryable ? error.retryAfterMs : null,
      ...(error.errors.length > 0 ? { errors: error.errors } : {}),
    },
  };
}
