/** Refusals that all surfaces share, and what Fastify refuses by itself as errors of ours. */
import type { FastifyError, FastifyRequest } from "fastify";
import { DaybookError, internalError, type ErrorCode } from "#shared/errors.ts";
import type { Log } from "#shared/log.ts";

/** What Fastify refuses by itself. */
const errorOfFastify: Readonly<Record<string, () => DaybookError>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new DaybookError("unsupported_media_type", "The body must come with Content-Type: application/json."),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => new DaybookError("invalid_json", "The body is empty."),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new DaybookError("bad_request", "The body is not as long as Content-Length says."),
  FST_ERR_BAD_URL: () => new DaybookError("bad_request", "The path is not valid."),
};

/** Makes an error ours, whatever it was. */
export function toDaybookError(error: unknown, request: FastifyRequest): DaybookError {
  if (error instanceof DaybookError) return error;
  const { code, statusCode } = error as Partial<FastifyError>;
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return bodyTooLarge(request.routeOptions.bodyLimit);
  const known = code === undefined ? undefined : errorOfFastify[code];
  if (known) return known();
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new DaybookError("bad_request", "The request is not valid.", { cause: error });
  }
  return internalError(error);
}

/** Logs an error that is no fault of the caller's. */
export function logFailure(log: Log, error: DaybookError, request: FastifyRequest): void {
  if (error.status < 500) return;
  const { method } = request;
  log.error(
    { err: error.cause ?? error, requestId: request.id, method, route: request.routeOptions.url },
    error.message,
  );
}

/** A body that is longer than its route takes. */
export function bodyTooLarge(bytesMax: number): DaybookError {
  return new DaybookError("request_too_large", `The body is larger than ${bytesMax / (1024 * 1024)} MB.`);
}

/** A path that is not there. */
export function noSuchPath(): DaybookError {
  return new DaybookError("resource_not_found", "There is no such path.");
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
