/** The metric of which services the gateway reaches. They are asked when Prometheus asks, at most once a second. */
import { Gauge, type Registry } from "prom-client";
import { serviceNames, type Clients, type ServiceName } from "./clients.ts";
import { createReadiness } from "./readiness.ts";

/** The services' own names. */
const labels: Record<ServiceName, string> = {
  identity: "identity",
  profiles: "profile",
  events: "event",
  metrics: "metric",
  webhooks: "webhook",
};

/** Adds `daybook_service_reachable`: 1 for a service that is ready, or 0. */
export function showReachability(registry: Registry, checkReady: Clients["checkReady"]): void {
  const services = serviceNames.map((name) => ({
    label: labels[name],
    readiness: createReadiness(() => checkReady(name)),
  }));
  const gauge: Gauge = new Gauge({
    name: "daybook_service_reachable",
    help: "1 while a service answers the gateway that it is ready, or 0.",
    labelNames: ["service"],
    registers: [registry],
    async collect() {
      await Promise.all(
        services.map(async ({ label, readiness }) => {
          const isReachable = await readiness.check().then(
            () => 1,
            () => 0,
          );
          gauge.set({ service: label }, isReachable);
        }),
      );
    },
  });
}
