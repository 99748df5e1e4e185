/** Spans of requests, by route. A request may name the trace that it belongs to, by the W3C header `traceparent`. */
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { FastifyInstance } from "fastify";
import { isTracing, startSpan, type Context } from "#shared/tracing/spans.ts";
import { servedRoute } from "./measure.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The context of the request's span; undefined while tracing is off. */
    traceContext: Context | undefined;
  }
}

/** Call before any other hook is added. While tracing is off it adds none. */
export function traceRequests(app: FastifyInstance): void {
  if (!isTracing()) return;
  app.decorateRequest("traceContext", undefined);
  app.addHook("onRequest", (request, reply, done) => {
    // The SDK ignores a header that is not valid.
    const parent = propagation.extract(ROOT_CONTEXT, request.headers);
    const { method, route } = servedRoute(request);
    const attributes = { "http.request.method": method, "http.route": route, "daybook.request_id": request.id };
    const span = startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
    reply.raw.once("close", () => {
      span.setAttribute("http.response.status_code", reply.raw.statusCode);
      if (!reply.raw.writableFinished) span.setAttribute("error.type", "client_gone");
      else if (reply.raw.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    request.traceContext = trace.setSpan(parent, span);
    context.with(request.traceContext, done);
  });
  // What reads a body runs in the context of its connection.
  app.addHook("preValidation", (request, _reply, done) => {
    context.with(request.traceContext ?? ROOT_CONTEXT, done);
  });
}
