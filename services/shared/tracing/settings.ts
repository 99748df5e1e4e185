/** Settings of tracing that Daybook reads itself. OpenTelemetry reads all other variables of the name OTEL_*. */
import type { SettingsReader } from "../process/config.ts";

/** Whether to trace; the SDK reads the address itself. */
export interface TracingSettings {
  isOn: boolean;
}

const protocol = "http/json";

/** Reads OTEL_EXPORTER_OTLP_ENDPOINT, without which tracing is off, and what turns it off beside the address. */
export function readTracing(reader: SettingsReader): TracingSettings {
  const endpoint = reader.optionalUrl("OTEL_EXPORTER_OTLP_ENDPOINT", ["http:", "https:"]);
  const wanted = reader.optional("OTEL_EXPORTER_OTLP_PROTOCOL") ?? protocol;
  if (endpoint !== undefined && wanted !== protocol) {
    reader.problem(`OTEL_EXPORTER_OTLP_PROTOCOL must be ${protocol}`);
  }
  return { isOn: endpoint !== undefined && reader.optional("OTEL_SDK_DISABLED")?.toLowerCase() !== "true" };
}
