/** The listeners of a service: RPC over HTTP/2, and an internal HTTP/1.1 listener for probes and Prometheus. */
import { createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { fastify, type FastifyInstance } from "fastify";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { admissionHook, createGate } from "./admission-hook.ts";
import { createAdmission, type FindClient } from "./admission.ts";
import { serverInterceptors } from "./interceptors.ts";
import type { Log } from "../process/log.ts";
import { version } from "../process/version.ts";
import { requestBytesMax, sessionMegabytesMax } from "./transport.ts";
import type { Routes } from "../process/service.ts";
import { unaryListener } from "./unary-server.ts";
import { createUnaryServer } from "./unary.ts";

const shutdownTimeoutMs = 10_000;

/** Makes a registry with the default metrics of a process and the version. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const build = new Gauge({
    name: "daybook_build_info",
    help: "1, with the version of Daybook as a label",
    labelNames: ["version"],
    registers: [registry],
  });
  build.set({ version }, 1);
  return registry;
}

/** Serves RPCs until closed; closing waits for running calls. Port 0 takes any free port. */
export async function serveRpc(options: {
  routes: Routes;
  /** Whoever has one of these may call everything. */
  credentials: readonly string[];
  /** Finds internal clients, which may call what they were given. Without it there are none. */
  findClient?: FindClient;
  host: string;
  port: number;
  log: Log;
  registry: Registry;
}): Promise<{ address: string; close(): Promise<void> }> {
  const gate = createGate(createAdmission(options.credentials, options.findClient), options);
  const interceptors = serverInterceptors(options.log, options.registry);
  const serveUnary = unaryListener(createUnaryServer(options.routes, interceptors), gate, {
    bytesMax: requestBytesMax,
    log: options.log,
  });
  const app = fastify({
    serverFactory: (handler) => {
      const server = createServer({ maxSessionMemory: sessionMegabytesMax });
      // Never listens: it makes requests of the streams that it is given.
      const others = createServer(handler);
      server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest) => {
        if (!serveUnary(stream, headers)) others.emit("stream", stream, headers, ...rest);
      });
      return server;
    },
    http2: true,
    logger: false,
    bodyLimit: requestBytesMax,
    // Calls that arrive while closing are still served.
    return503OnClosing: false,
    // No limit, because it would also apply to closing, which has its own.
    pluginTimeout: 0,
  });
  // Runs before the body is read, so a stranger can make us buffer only what HTTP/2 lets anyone send unasked.
  app.addHook("onRequest", admissionHook(gate));
  await app.register(fastifyConnectPlugin, {
    routes: options.routes,
    interceptors,
    readMaxBytes: requestBytesMax,
    shutdownTimeoutMs,
  });
  // An open session, also one made while closing, would keep the listener from closing.
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
      // Calls have ended by then. The remaining connections have an unresponsive peer.
      const timer = setTimeout(() => {
        for (const session of sessions) session.destroy();
      }, shutdownTimeoutMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/**
 * Serves `/health/live`, `/health/ready` and `/metrics` on an internal port.
 * @param checkReady rejects while the process cannot do its work.
 */
export async function serveInternal(options: {
  host: string;
  port: number;
  registry: Pick<Registry, "contentType" | "metrics">;
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

/** Adds `/health/live` (the process runs) and `/health/ready` (it can do its work, else 503), with the version. */
export function addHealthRoutes(app: FastifyInstance, checkReady: () => Promise<void>): void {
  app.get("/health/live", () => ({ status: "live", version }));
  app.get("/health/ready", async (_request, reply) => {
    try {
      await checkReady();
      return { status: "ready", version };
    } catch {
      return reply.code(503).send({ status: "unavailable", version });
    }
  });
}
