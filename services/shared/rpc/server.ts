/** The listeners of a service: RPC over HTTP/2, and an internal one over HTTP/1.1 for probes and Prometheus. */
import { createServer, type ServerHttp2Session } from "node:http2";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { fastify, type FastifyInstance } from "fastify";
import { collectDefaultMetrics, Registry } from "prom-client";
import { credentialCheck, serverInterceptors } from "./interceptors.ts";
import type { Log } from "../process/log.ts";
import { requestBytesMax, sessionMegabytesMax } from "./transport.ts";
import type { Routes } from "../process/service.ts";

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
    // What arrives before its sender knows of the end is done.
    return503OnClosing: false,
    // It holds for closing too, which has a limit of its own.
    pluginTimeout: 0,
  });
  const isOurs = credentialCheck(options.credential);
  // Before anything of the body is read. A stranger cannot have more of it buffered than HTTP/2 lets anyone send unasked.
  app.addHook("onRequest", async (request, reply) => {
    if (isOurs(request.headers.authorization)) return;
    options.log.debug({ url: request.url }, "a call without the internal credential was refused");
    await reply.code(401).send({ code: "unauthenticated", message: "this service answers only its own mesh" });
  });
  await app.register(fastifyConnectPlugin, {
    routes: options.routes,
    interceptors: serverInterceptors(options.log, options.registry),
    readMaxBytes: requestBytesMax,
    shutdownTimeoutMs,
  });
  // Sessions that stay open between calls would keep the listener from closing, and so would one that is made meanwhile.
  const sessions = new Set<ServerHttp2Session>();
  let isClosing = false;
  app.server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    if (isClosing) session.close();
  });
  const address = await app.listen({ host: options.host, port: options.port });
  return {
    address,
    async close() {
      isClosing = true;
      const closed = app.close();
      for (const session of sessions) session.close();
      // Calls are ended before; what is left then is a connection whose other side says nothing.
      const timer = setTimeout(() => {
        for (const session of sessions) session.destroy();
      }, shutdownTimeoutMs);
      await closed;
      clearTimeout(timer);
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
