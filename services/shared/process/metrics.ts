/** Metrics for Prometheus that all services of a process share. */
import type { Metric, Registry } from "prom-client";

/** The metric of that name; made at its first use. */
export function metricOf<M extends Metric>(
  registry: Registry,
  name: string,
  make: (base: { name: string; registers: Registry[] }) => M,
): M {
  return (registry.getSingleMetric(name) as M | undefined) ?? make({ name, registers: [registry] });
}
