/** Refusals of all surfaces, and the conversion of Fastify's own errors. */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { DaybookError, internalError, type ErrorCode } from "#shared/values/errors.ts";
import type { Log } from "#shared/process/log.ts";
import { count } from "#shared/values/count.ts";
import { quoteName } from "#shared/values/wording.ts";

/** Fastify's own errors. */
const errorOfFastify: Readonly<Record<string, () => DaybookError>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new DaybookError("unsupported_media_type", "`Content-Type` must be application/json, the type of every body."),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new DaybookError("bad_request", "The body must be as long as `Content-Length` says; got a body of another length."),
  FST_ERR_BAD_URL: () =>
    new DaybookError(
      "bad_request",
      "The path must be valid percent-encoded UTF-8, such as /v1/events; got bytes that are not.",
    ),
};

function toDaybookError(error: unknown, request: FastifyRequest): DaybookError {
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

/** Converts an error, logs it unless the client caused it, and sets Retry-After. */
export function takeError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): DaybookError {
  const ours = toDaybookError(error, request);
  logFailure(log, ours, request);
  request.server.noteRefusal(request, reply, ours);
  if (ours.retryAfterMs !== null) void reply.header("retry-after", Math.ceil(ours.retryAfterMs / 1000));
  return ours;
}

/** An error after the client has disconnected is not logged. */
function logFailure(log: Log, error: DaybookError, request: FastifyRequest): void {
  if (error.status < 500 || request.raw.socket.destroyed) return;
  const { method } = request;
  log.error(
    { err: error.cause ?? error, requestId: request.id, method, route: request.routeOptions.url },
    error.message,
  );
}

/** The body exceeds the limit of its route. */
export function bodyTooLarge(bytesMax: number): DaybookError {
  return new DaybookError(
    "request_too_large",
    `The body must have at most ${bytesMax / (1024 * 1024)} MB (${count(bytesMax)} bytes).`,
  );
}

/** @param url as it was requested. */
export function noSuchPath(url: string): DaybookError {
  const [path = ""] = url.split("?", 1);
  const plain = path.replaceAll(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
  const hint =
    plain === path
      ? "The paths are listed at /docs."
      : `A path has no double slash and none at its end. Did you mean ${quoteName(plain)}?`;
  return new DaybookError("resource_not_found", `${quoteName(path)} is not a path of this API. ${hint}`);
}

/** Errors with a status that differs from the one of their code in the catalogue. */
class HttpRefusal extends DaybookError {
  readonly #status: number;

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    options: ConstructorParameters<typeof DaybookError>[2] = {},
  ) {
    super(code, message, options);
    this.#status = status;
  }

  override get status(): number {
    return this.#status;
  }
}

/** 422 for a well-formed request that cannot be done, whatever the status of its code elsewhere. */
export function impossibleChange({ code, message, param, errors }: DaybookError): DaybookError {
  return new HttpRefusal(422, code, message, { param, errors });
}

/** 431: too many headers, or too long ones. */
export function tooLargeHeaders(message: string): DaybookError {
  return new HttpRefusal(431, "request_too_large", message);
}

/** 408: the request did not arrive completely in time. */
export function notInTime(): DaybookError {
  return new DaybookError("request_timeout", "The request did not arrive in time. Send it again.");
}

export function notHttp(): DaybookError {
  return new DaybookError("bad_request", "The bytes sent are not a valid HTTP request.");
}
