/**
 * Spans of OpenTelemetry. Until start.ts sets a tracer, nothing here makes a span, and callers check `isTracing()`
 * first, so that tracing that is off costs one comparison. Attributes hold names and numbers only: never what callers
 * send, ids of persons, or the message of an error.
 */
import {
  context,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Context,
  type Link,
  type Span,
  type SpanOptions,
  type Tracer,
} from "@opentelemetry/api";
import { Code, ConnectError } from "@connectrpc/connect";
import { DaybookError, errorCatalogue } from "../values/errors.ts";

export type { Context } from "@opentelemetry/api";

let tracer: Tracer | undefined;

/** Turns tracing on, or off with undefined. */
export function setTracer(made: Tracer | undefined): void {
  tracer = made;
}

/** Whether this process traces. */
export function isTracing(): boolean {
  return tracer !== undefined;
}

/** The context of the code that runs now, to be carried to code that runs elsewhere; undefined while tracing is off. */
export function currentContext(): Context | undefined {
  return tracer && context.active();
}

/** Starts a span that its caller ends. Call only while tracing. */
export function startSpan(name: string, options: SpanOptions, parent: Context): Span {
  if (!tracer) throw new Error("tracing is off");
  return tracer.startSpan(name, options, parent);
}

/** Runs work in a span, whose parent is the active span unless given. Call only while tracing. */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
  parent: Context = context.active(),
): Promise<T> {
  const span = startSpan(name, options, parent);
  try {
    return await context.with(trace.setSpan(parent, span), () => work(span));
  } catch (error) {
    noteError(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Runs work in a span of the active trace. Without a trace, or while tracing is off, it only runs the work. */
export function traced<T>(name: string, work: () => Promise<T>): Promise<T> {
  return tracer && trace.getActiveSpan() ? inSpan(name, {}, work) : work();
}

/** Runs work of the process itself, which belongs to no trace although a traced request woke it. */
export function untraced<T>(work: () => T): T {
  return tracer ? context.with(ROOT_CONTEXT, work) : work();
}

/**
 * Notes the error of a span: its code, or the name of its class, because messages may quote what was sent. A refusal
 * is no failure of the span.
 */
function noteError(span: Span, error: unknown): void {
  span.setAttribute("error.type", typeOf(error));
  if (!isRefusal(error)) span.setStatus({ code: SpanStatusCode.ERROR });
}

function typeOf(error: unknown): string {
  if (error instanceof ConnectError) return Code[error.code];
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : error.constructor.name;
}

/** Codes that say that a server failed, and not that it refused. */
const serverFaults: ReadonlySet<Code> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

function isRefusal(error: unknown): boolean {
  if (error instanceof ConnectError) return !serverFaults.has(error.code);
  return error instanceof DaybookError && errorCatalogue[error.code].status < 500;
}

/**
 * Runs work that serves several spans at once, such as a call for the items of several requests.
 * - No context has a span: the work belongs to no trace.
 * - They are of one trace: the work continues it. With a name, it gets a span; other spans of the trace are linked.
 * - They are of several traces: none is the parent. The span is the first of a new trace, with links to them, and each
 *   of them that is recorded in this process gets a link to it.
 * @param name of the span. Without options, work for a single span gets no span of its own.
 */
export function forAll<T>(
  contexts: readonly (Context | undefined)[],
  name: string,
  options: SpanOptions | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const bySpan = new Map<string, Context>();
  const traces = new Set<string>();
  for (const given of contexts) {
    const of = given && trace.getSpanContext(given);
    if (!of) continue;
    if (bySpan.size < linksMax && !bySpan.has(of.spanId)) bySpan.set(of.spanId, given);
    traces.add(of.traceId);
  }
  const all = [...bySpan.values()];
  const [first] = all;
  if (!first) return untraced(work);
  if (all.length === 1 && !options) return context.with(first, work);
  if (traces.size === 1) return inSpan(name, { ...options, links: linksTo(all.slice(1)) }, work, first);
  return inSpan(
    name,
    { ...options, root: true, links: linksTo(all) },
    (batch) => {
      const link = { context: batch.spanContext() };
      if (batch.isRecording()) for (const given of all) trace.getSpan(given)?.addLink(link);
      return work();
    },
    ROOT_CONTEXT,
  );
}

// The default limit of the SDK.
const linksMax = 128;

function linksTo(contexts: readonly Context[]): Link[] {
  return contexts.flatMap((given) => {
    const of = trace.getSpanContext(given);
    return of ? [{ context: of }] : [];
  });
}

/** The id of the active trace, for a line of the log. Always a new object: pino writes the fields of a line into it. */
export function activeTrace(): { trace_id?: string } {
  const of = tracer && trace.getActiveSpan()?.spanContext();
  return of ? { trace_id: of.traceId } : {};
}
