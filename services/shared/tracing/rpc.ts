/** Spans of calls between services, by method. A call carries the W3C headers of its trace. */
import type { Interceptor } from "@connectrpc/connect";
import { context, propagation, ROOT_CONTEXT, SpanKind, trace, type SpanOptions } from "@opentelemetry/api";
import { inSpan } from "./spans.ts";

type AnyFn = Parameters<Interceptor>[0];
type Request = Parameters<AnyFn>[0];
type Response = ReturnType<AnyFn>;

const setter = { set: (header: Headers, name: string, value: string): void => header.set(name, value) };
const getter = {
  get: (header: Headers, name: string): string | undefined => header.get(name) ?? undefined,
  keys: (header: Headers): string[] => [...header.keys()],
};

/** Sends a call of a trace in a span. What a process calls by itself has no trace. */
export function sendInSpan(request: Request, next: AnyFn): Response {
  if (!trace.getActiveSpan()) return next(request);
  return inSpan(nameOf(request), optionsOf(SpanKind.CLIENT, request), () => {
    propagation.inject(context.active(), request.header, setter);
    return next(request);
  });
}

/** Serves a call in a span, if its caller sent a trace. */
export function serveInSpan(request: Request, next: AnyFn): Response {
  const parent = propagation.extract(ROOT_CONTEXT, request.header, getter);
  if (!trace.getSpanContext(parent)) return next(request);
  return inSpan(nameOf(request), optionsOf(SpanKind.SERVER, request), () => next(request), parent);
}

function nameOf({ service, method }: Request): string {
  return `${service.typeName}/${method.name}`;
}

function optionsOf(kind: SpanKind, request: Request): SpanOptions {
  return { kind, attributes: { "rpc.system.name": "connectrpc", "rpc.method": nameOf(request) } };
}
