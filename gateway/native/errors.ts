/** Errors of the native surface, in the form of the request's revision. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { DaybookError } from "#shared/values/errors.ts";
import type { Log } from "#shared/process/log.ts";
import { noSuchPath, takeError } from "../refusals.ts";
import { renderError as renderGuideError, statusOf as guideStatusOf } from "./revisions/2026-05-01.ts";

export function sendError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const ours = takeError(log, error, request, reply);
  if (ours.status === 401) void reply.header("www-authenticate", "Bearer");
  const isGuide = request.revision === "2026-05-01";
  const body = isGuide ? renderGuideError(ours, request.id) : renderError(ours, request.id);
  return reply
    .code(isGuide ? guideStatusOf(ours) : ours.status)
    .type("application/json; charset=utf-8")
    .send(JSON.stringify(body));
}

export function sendNotFound(log: Log, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendError(log, noSuchPath(request.url), request, reply);
}

/** The error body of the newest revision. */
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
