/** The listeners of a service: RPC over HTTP/2, and an internal one over HTTP/1.1 for probes and Prometheus. */
import { createServer } from "node:http2";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { fastify, type FastifyInstance } from "fastify";
import { collectDefaultMetrics, Registry } from "prom-client";
import { serverInterceptors } from "./interceptors.ts";
import type { Log } from "./log.ts";
import { requestBytesMax, sessionMegabytesMax, type Routes } from "./transport.ts";

const shutdownTimeoutMs = 10_000;

/** A registry with the process's own figures in it. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Serves RPCs until it is closed; closing waits for those under way. Port 0 takes any that is free. */
export async function serveRpc(options: {
  routes: Routes;
  credential: string;
  host: string;
  port: number;
  log: Log;
  registry: Registry;
}): Promise<{ address: string; close(): Promise<void> }> {
  const app = fastify({
    serverFactory: (handler) => createServer({ maxSessionMemory: sessionMegabytesMax }, handler),
    http2: true,
    logger: false,
    bodyLimit: requestBytesMax,
  });
  await app.register(fastifyConnectPlugin, {
    routes: options.routes,
    interceptors: serverInterceptors(options.credential, options.log, options.registry),
    readMaxBytes: requestBytesMax,
    shutdownTimeoutMs,
  });
  // Sessions that stay open between calls would keep the listener from closing.
  const sessions = new Set<{ close(): void }>();
  app.server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  const address = await app.listen({ host: options.host, port: options.port });
  return {
    address,
    async close() {
      const closed = app.close();
      for (const session of sessions) session.close();
      await closed;
    },
  };
}

/**
 * Serves `/health/live`, `/health/ready` and `/metrics`. Not for the public.
 * @param checkReady rejects while the process cannot do its work.
 */
export async function serveInternal(options: {
  host: string;
  port: number;
  registry: Registry;
  checkReady: () => Promise<void>;
}): Promise<{ close(): Promise<void> }> {
  const app = fastify({ logger: false });
  addHealthRoutes(app, options.checkReady);
  app.get("/metrics", async (_request, reply) => {
    void reply.type(options.registry.contentType);
    return options.registry.metrics();
  });
  await app.listen({ host: options.host, port: options.port });
  return { close: () => app.close() };
}

/** `/health/live`: the process runs. `/health/ready`: it can do its work, else 503. */
export function addHealthRoutes(app: FastifyInstance, checkReady: () => Promise<void>): void {
  app.get("/health/live", () => ({ status: "live" }));
  app.get("/health/ready", async (_request, reply) => {
    try {
      await checkReady();
      return { status: "ready" };
    } catch {
      return reply.code(503).send({ status: "unavailable" });
    }
  });
}
