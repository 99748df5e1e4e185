/** Metrics for Prometheus that all services of a process share. */
import type { Metric, Registry } from "prom-client";

/** Gets the metric of a name, or creates it at its first use. */
export function metricOf<M extends Metric, Configuration extends { name: string }>(
  registry: Registry,
  Kind: new (configuration: Configuration) => M,
  configuration: Configuration,
): M {
  const known = registry.getSingleMetric(configuration.name) as M | undefined;
  return known ?? new Kind({ ...configuration, registers: [registry] });
}
