/** Request durations for Prometheus. Labels have closed sets of values, so that clients cannot multiply series. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Histogram, type Registry } from "prom-client";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route only answers 404 or 405. */
    isRefusal?: true;
    /** The answer goes on as long as its client reads it, so its duration says nothing. */
    isStream?: true;
  }
}

const none = "none";

export function measure(app: FastifyInstance, registry: Registry): void {
  const duration = new Histogram({
    name: "daybook_http_duration_seconds",
    help: "Time to answer a request. What no route serves has the method and route none.",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
  app.addHook("onResponse", async (request, reply) => {
    if (request.routeOptions.config.isStream && reply.statusCode === 200) return;
    duration.observe({ ...servedRoute(request), status: reply.statusCode }, reply.elapsedTime / 1000);
  });
}

/** The method and the route of a request that a route serves; else "none" for both. */
export function servedRoute(request: FastifyRequest): { method: string; route: string } {
  const { url, config } = request.routeOptions;
  const isServed = url !== undefined && !request.is404 && !config.isRefusal;
  return { method: isServed ? request.method : none, route: isServed ? url : none };
}
