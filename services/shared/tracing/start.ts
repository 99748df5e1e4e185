/** Starts and stops tracing. The SDK is loaded only when tracing is on. */
import type { Closable } from "../process/lifecycle.ts";
import type { Log } from "../process/log.ts";
import { setTracer } from "./spans.ts";
import type { TracingSettings } from "./settings.ts";

/**
 * Starts tracing, if it is on.
 * @param service the default of OTEL_SERVICE_NAME.
 * @returns what ends it: spans that wait are sent, for a limited time.
 */
export async function startTracing({ isOn }: TracingSettings, service: string, log: Log): Promise<Closable> {
  if (!isOn) return { close: () => Promise.resolve() };
  const { createTracerProvider } = await import("./sdk.ts");
  const provider = createTracerProvider(service, log);
  setTracer(provider.tracer);
  return {
    async close() {
      await provider.close();
      setTracer(undefined);
    },
  };
}
