/**
 * The SDK of OpenTelemetry: spans wait in a queue and are sent in batches. A full queue drops spans, so that neither a
 * request nor the memory ever depends on the receiver. The SDK reads the variables OTEL_* itself.
 */
import { randomUUID } from "node:crypto";
import { diag, DiagLogLevel, type DiagLogger, type Tracer } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { pause } from "../scheduling/pause.ts";
import type { Closable } from "../process/lifecycle.ts";
import type { Log } from "../process/log.ts";

// A process may take 30 s to stop, of which its connections can take 28.
const flushMsMax = 1_500;
const logIntervalMs = 60_000;
const reasonCharsMax = 300;

/** @param service the default of the resource's name. */
export function createTracerProvider(service: string, log: Log): Closable & { tracer: Tracer } {
  // Before everything else, so that the SDK reports unusable variables.
  diag.setLogger(toLog(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ "service.name": service, "service.instance.id": randomUUID() }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  // Only the context of the trace: baggage is data of callers.
  provider.register({ propagator: new W3CTraceContextPropagator() });
  return {
    tracer: provider.getTracer("daybook"),
    async close() {
      const over = new AbortController();
      const flushed = provider.shutdown().catch(() => undefined);
      await Promise.race([flushed, pause(flushMsMax, over.signal)]);
      over.abort();
    },
  };
}

/** Logs what the SDK reports, at most one line a minute: an absent receiver is reported with every batch. */
function toLog(log: Log): DiagLogger {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  const warn = (reason: string): void => {
    if (performance.now() - loggedAtMs < logIntervalMs) return;
    loggedAtMs = performance.now();
    log.warn({ reason: reason.slice(0, reasonCharsMax) }, "tracing has a problem, and requests go on");
  };
  const ignore = (): void => undefined;
  return { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
}
