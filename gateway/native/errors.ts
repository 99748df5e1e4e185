/** Errors of the native surface, in the form of the revision that the request is answered in. */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { DaybookError, internalError, type ErrorCode } from "#shared/errors.ts";
import type { Log } from "#shared/log.ts";
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

/** A path that is not there. */
export function noSuchPath(): DaybookError {
  return new DaybookError("resource_not_found", "There is no such path.");
}

/** Answers a path that is not there. */
export function sendNotFound(log: Log, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendError(log, noSuchPath(), request, reply);
}

/** Refusals that HTTP has a status of their own for, beside the codes of the catalogue. */
class HttpRefusal extends DaybookError {
  readonly #status: number;

  constructor(status: number, code: ErrorCode, message: string) {
    super(code, message);
    this.#status = status;
  }

  override get status(): number {
    return this.#status;
  }
}

/** Headers that are too many or too long: 431. */
export function tooLargeHeaders(message: string): DaybookError {
  return new HttpRefusal(431, "request_too_large", message);
}

/** A request that did not come to its end: 408. */
export function notInTime(): DaybookError {
  return new HttpRefusal(408, "bad_request", "The request did not arrive in time.");
}

/** What is no HTTP. */
export function notHttp(): DaybookError {
  return new DaybookError("bad_request", "This is not a valid HTTP request.");
}

/** An error as the newest revision has it. */
export function renderError(error: DaybookError, requestId: string): object {
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
