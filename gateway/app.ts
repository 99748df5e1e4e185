/** The public surface, on one screen: what is registered, in order. */
import { METHODS } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fastify, type FastifyInstance } from "fastify";
import { Histogram, type Registry } from "prom-client";
import type { Clock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";
import { newestRevision } from "#shared/revisions.ts";
import { addHealthRoutes } from "#shared/server.ts";
import type { Signals } from "#shared/signals.ts";
import type { Clients } from "./clients.ts";
import type { CompatDescription } from "./compat/openapi.ts";
import { sendCompatError } from "./compat/errors.ts";
import { isCompatPath } from "./compat/paths.ts";
import { compatSurface } from "./compat/surface.ts";
import { compatDefaults, type CompatSettings } from "./config.ts";
import { withSurface, type OpenApiDocument } from "./docs/document.ts";
import { docsRoutes } from "./docs/routes.ts";
import { createKeyEnds } from "./key-ends.ts";
import { createKeyUse } from "./key-use.ts";
import {
  answerClientError,
  limitConnections,
  listenerLimits,
  listenerOptions,
  readOutRefusedBodies,
  type ListenerLimits,
} from "./listener.ts";
import { createCursors } from "./cursor.ts";
import { sendError, sendNotFound } from "./native/errors.ts";
import { nativeSurface } from "./native/surface.ts";
import { authenticationPlugin, callerAgeMsMax as ageDefault } from "./plugins/authentication.ts";
import { idempotencyPlugin } from "./plugins/idempotency.ts";
import { inflatePlugin } from "./plugins/inflate.ts";
import { jsonBodyPlugin } from "./plugins/json-body.ts";
import { rateLimitPlugin } from "./plugins/rate-limit.ts";
import { collectMethods } from "./plugins/method-not-allowed.ts";
import { newRequestId, requestPlugin } from "./plugins/request.ts";
import { securityHeaders, securityHeadersPlugin } from "./plugins/security-headers.ts";
import { revisionAsked, revisionPlugin } from "./plugins/revision.ts";
import { createOperations } from "./operations.ts";
import type { RateLimits } from "./rate/limits.ts";
import { createRateShares } from "./rate/shares.ts";
import { createProfiles } from "./profiles.ts";
import { createRecording } from "./recording.ts";
import { noSuchPath } from "./refusals.ts";

/** What the gateway works with. */
export interface GatewayContext {
  clients: Clients;
  clock: Clock;
  log: Log;
  registry: Registry;
  limits: RateLimits;
  /** What clients may take of the listener; unless given, what every gateway allows. */
  listener?: ListenerLimits | undefined;
  /** Tell of keys that end. Without them a gateway knows when it forgets what it remembers of a key. */
  signals?: Signals | undefined;
  /** For how long it remembers who a key is; unless given, as long as every gateway. */
  callerAgeMsMax?: number | undefined;
  /** Of the compatibility surface; unless given, as without any settings. */
  compat?: CompatSettings | undefined;
  /** Signs cursors; the same for all gateways of an installation. */
  secret: string;
}

const bodyBytesMax = 2 * 1024 * 1024;
// Without a new connection for this long, nobody is on the way any more; but not longer than that.
const quietMs = 500;
const acceptMaxMs = 3_000;
// A request that has not arrived by then never will.
const closeTimeoutMs = 10_000;
const closeIntervalMs = 50;
// Long enough for any id that is only mistyped; longer paths are no paths of ours.
const pathParameterLengthMax = 500;

/** Makes the gateway. Closing it waits for the requests under way. */
export async function createGateway(context: GatewayContext): Promise<FastifyInstance> {
  const { clients, clock, log, limits, listener = listenerLimits } = context;
  const app: FastifyInstance = fastify({
    logger: false,
    genReqId: newRequestId,
    bodyLimit: bodyBytesMax,
    ...listenerOptions(listener),
    // While it closes it still answers what comes over connections that are open.
    return503OnClosing: false,
    routerOptions: { maxParamLength: pathParameterLengthMax },
    // A path that cannot be read comes here, past all hooks.
    frameworkErrors: (error, request, reply) => {
      request.revision = revisionAsked(request) ?? newestRevision;
      void reply.headers({
        "x-request-id": request.id,
        "service-version": request.revision,
        ...app.rateHeaders(request.ip),
        ...securityHeaders,
      });
      void (isCompatPath(request.url) ? sendCompatError : sendError)(log, error, request, reply);
    },
    // What is not even HTTP, or not in time, comes here.
    clientErrorHandler: (error, socket) =>
      answerClientError(error, socket, () => app.rateHeaders(socket.remoteAddress ?? "")),
  });
  limitConnections(app.server, listener, context.registry);
  knowAllMethods(app);
  measure(app, context.registry);
  readOutRefusedBodies(app);
  closeGently(app);

  const { identity } = clients;
  const shares = createRateShares({ identity, clock, limits, log });
  const keyUse = createKeyUse(identity, clock, log);
  const operations = createOperations(identity, log);
  const keyEnds = createKeyEnds(context.signals);
  const { callerAgeMsMax = ageDefault } = context;

  await app.register(securityHeadersPlugin);
  await app.register(requestPlugin);
  await app.register(rateLimitPlugin, { limits, shares });
  await app.register(authenticationPlugin, { identity, shares, keyUse, keyEnds, callerAgeMsMax, limits });
  await app.register(revisionPlugin);
  await app.register(idempotencyPlugin, { operations });
  app.addHook("onRequest", async (request) => {
    // Before the body is looked at: nobody has said who sends it.
    if (request.is404) throw noSuchPath();
  });
  await app.register(inflatePlugin);
  await app.register(jsonBodyPlugin);
  app.setErrorHandler(async (error, request, reply) =>
    sendError(log, await app.settleRate(request, reply, error), request, reply),
  );
  app.setNotFoundHandler((request, reply) => sendNotFound(log, request, reply));

  const recording = createRecording(clients.events);
  const profiles = createProfiles(clients.profiles);
  const cursors = createCursors(context.secret, clock);
  let document: OpenApiDocument | undefined;
  let description: CompatDescription | undefined;
  const native = nativeSurface({ clients, recording, profiles, cursors, log }, (made) => (document = made));
  await app.register(native, { prefix: "/v1" });
  const compatContext = {
    clients,
    recording,
    profiles,
    cursors,
    clock,
    log,
    settings: context.compat ?? compatDefaults,
  };
  await app.register(
    compatSurface(compatContext, (made) => (description = made)),
    { prefix: "/api" },
  );
  await app.register(compatSurface(compatContext));
  const addMethodNotAllowed = collectMethods(app);
  if (!document || !description) throw new Error("a surface has not described itself");
  docsRoutes(app, withSurface(document, description));
  addHealthRoutes(app, clients.checkReady);
  addMethodNotAllowed();
  // `Expect: 100-continue` is answered by Node; any other expectation is passed over, as RFC 9110 allows.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));

  app.addHook("onClose", async () => {
    await Promise.all([recording.drain(), profiles.drain(), shares.close(), keyUse.close(), operations.close()]);
  });
  return app;
}

/** So that each of them is answered by a route, be it with 405. */
function knowAllMethods(app: FastifyInstance): void {
  for (const method of METHODS) {
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
}

/**
 * Loses no request on the way out. Connections that the system has made for us and that we have not seen yet would be reset, so it goes on
 * accepting for a moment; those that are kept alive would keep it waiting, so each is closed as soon as it has nothing to answer.
 */
function closeGently(app: FastifyInstance): void {
  let closing = false;
  let lastConnectionMs = 0;
  app.server.on("connection", () => (lastConnectionMs = performance.now()));
  const isQuiet = (): boolean => performance.now() - lastConnectionMs > quietMs;
  app.addHook("onSend", async (_request, reply) => {
    if (closing) void reply.header("connection", "close");
  });
  app.addHook("preClose", async () => {
    closing = true;
    const startMs = performance.now();
    do await sleep(quietMs);
    while (!isQuiet() && performance.now() - startMs < acceptMaxMs);
    // What was accepted last may not have been read yet.
    const timer = setInterval(() => isQuiet() && app.server.closeIdleConnections(), closeIntervalMs);
    const timeout = setTimeout(() => app.server.closeAllConnections(), closeTimeoutMs);
    app.server.once("close", () => {
      clearInterval(timer);
      clearTimeout(timeout);
    });
  });
}

function measure(app: FastifyInstance, registry: Registry): void {
  const duration = new Histogram({
    name: "daybook_http_duration_seconds",
    help: "Time to answer a request.",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
  app.addHook("onResponse", async (request, reply) => {
    const { url = "none" } = request.routeOptions;
    const labels = { method: request.method, route: url, status: reply.statusCode };
    duration.observe(labels, reply.elapsedTime / 1000);
  });
}
