/** The public surface, on one screen: what is registered, in order. */
import { METHODS } from "node:http";
import { fastify, type FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import type { Clock } from "#shared/values/clock.ts";
import type { Log } from "#shared/process/log.ts";
import { newestRevision } from "#shared/values/revisions.ts";
import { addHealthRoutes } from "#shared/rpc/server.ts";
import type { Signals } from "#shared/bus/signals.ts";
import { bindableServices, type Clients } from "./clients.ts";
import { sendCompatError } from "./compat/errors.ts";
import { isCompatPath, normalizeUrl } from "./compat/paths.ts";
import { compatSurface } from "./compat/surface.ts";
import { compatDefaults, edgeDefaults, type CompatSettings, type EdgeSettings } from "./config.ts";
import { docsRoutes } from "./docs/routes.ts";
import { createKeyEnds } from "./key-ends.ts";
import { createKeyUse } from "./key-use.ts";
import { createTrust } from "./listener/addresses.ts";
import { answerClientError } from "./listener/client-errors.ts";
import { createListener } from "./listener/listener.ts";
import { readOutRefusedBodies } from "./listener/refused-bodies.ts";
import { closeGently } from "./listener/shutdown.ts";
import { measure } from "./measure.ts";
import { createCursors } from "./cursor.ts";
import { sendError, sendNotFound } from "./native/errors.ts";
import { nativeSurface } from "./native/surface.ts";
import { authenticationPlugin, callerAgeMsMax as ageDefault } from "./plugins/authentication.ts";
import { idempotencyPlugin } from "./plugins/idempotency.ts";
import { framingPlugin } from "./plugins/framing.ts";
import { inflatePlugin } from "./plugins/inflate.ts";
import { jsonBodyPlugin } from "./plugins/json-body.ts";
import { memoryPlugin } from "./plugins/memory.ts";
import { preconditionPlugin } from "./plugins/precondition.ts";
import { rateLimitPlugin } from "./plugins/rate-limit.ts";
import { collectMethods } from "./plugins/method-not-allowed.ts";
import { newRequestId, requestPlugin } from "./plugins/request.ts";
import { securityHeaders, securityHeadersPlugin } from "./plugins/security-headers.ts";
import { revisionAsked, revisionPlugin } from "./plugins/revision.ts";
import { createDocument } from "./openapi.ts";
import { createOperations } from "./operations.ts";
import { originPlugin } from "./origin.ts";
import { createAddressWindows } from "./rate/address-windows.ts";
import type { RateLimits } from "./rate/limits.ts";
import { createRateShares } from "./rate/shares.ts";
import { createProfiles } from "./profiles.ts";
import { createReadiness, type Readiness } from "./readiness.ts";
import { createRecording } from "./recording.ts";
import { noSuchPath } from "./refusals.ts";

/** What the gateway works with. */
export interface GatewayContext {
  clients: Clients;
  clock: Clock;
  log: Log;
  registry: Registry;
  limits: RateLimits;
  /** What differs of the public surface from that of every gateway. */
  edge?: Partial<EdgeSettings> | undefined;
  /** Whether the gateway can do its work, for whoever else tells it; unless given, it is asked of the clients. */
  readiness?: Readiness | undefined;
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
// Long enough for any id that is only mistyped; longer paths are no paths of ours.
const pathParameterLengthMax = 500;

/** Makes the gateway. Closing it waits for the requests under way. */
export async function createGateway(context: GatewayContext): Promise<FastifyInstance> {
  const { clients, clock, log, limits, registry } = context;
  const edge: EdgeSettings = { ...edgeDefaults, ...context.edge };
  const readiness = context.readiness ?? createReadiness(clients.checkReady);
  const isTrusted = createTrust(edge.trustedProxies);
  const listener = createListener(edge.listener, isTrusted, registry);
  const app: FastifyInstance = fastify({
    logger: false,
    genReqId: newRequestId,
    bodyLimit: bodyBytesMax,
    serverFactory: listener.serverFactory,
    trustProxy: edge.trustedProxies.length > 0 && isTrusted,
    // RFC 9112, section 3.2.2: a target in absolute form is to be taken.
    rewriteUrl: ({ url = "/" }) =>
      normalizeUrl(url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*(?=\/)/i, "")),
    // While it closes it still answers what comes over connections that are open.
    return503OnClosing: false,
    // It holds for closing too, which takes as long as clients and SHUTDOWN_DELAY_MS need; the process has a limit of its own.
    pluginTimeout: 0,
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
  knowAllMethods(app);
  measure(app, registry);
  readOutRefusedBodies(app);
  closeGently(app, listener, readiness, edge.shutdownDelayMs);

  const { identity } = clients;
  const shares = createRateShares({ identity, clock, limits, log });
  const keyUse = createKeyUse(identity, clock, log);
  const operations = createOperations(identity, log);
  const keyEnds = createKeyEnds(context.signals);
  const { callerAgeMsMax = ageDefault } = context;

  await app.register(securityHeadersPlugin);
  await app.register(requestPlugin);
  await app.register(framingPlugin);
  await app.register(originPlugin, { publicUrl: edge.publicUrl });
  await app.register(rateLimitPlugin, { shares, addresses: createAddressWindows(shares.clock, limits.ordinary) });
  await app.register(authenticationPlugin, { identity, shares, keyUse, keyEnds, callerAgeMsMax, limits });
  await app.register(revisionPlugin);
  await app.register(preconditionPlugin);
  await app.register(idempotencyPlugin, { operations });
  app.addHook("onRequest", async (request) => {
    // Before the body is looked at: nobody has said who sends it. An empty id is a slash at the end of the path of a list.
    if (request.is404 || Object.values(request.params as object).includes("")) throw noSuchPath(request.url);
  });
  await app.register(memoryPlugin, { bytes: edge.bytes, pages: edge.pages, registry });
  await app.register(inflatePlugin);
  await app.register(jsonBodyPlugin);
  app.setErrorHandler(async (error, request, reply) =>
    sendError(log, await app.settleRate(request, reply, error), request, reply),
  );
  app.setNotFoundHandler((request, reply) => sendNotFound(log, request, reply));

  const recording = createRecording(clients.events);
  const profiles = createProfiles(clients.profiles);
  const cursors = createCursors(context.secret, clock);
  const bindServices = bindableServices(clients);
  const surfaceContext = { bindServices, recording, profiles, cursors, clock, log };
  const compat = compatSurface(surfaceContext, context.compat ?? compatDefaults);
  await app.register(nativeSurface(surfaceContext), { prefix: "/v1" });
  await app.register(compat, { prefix: "/api" });
  await app.register(compat);
  const addMethodNotAllowed = collectMethods(app);
  docsRoutes(app, createDocument(edge.publicUrl ?? "/"));
  addHealthRoutes(app, () => readiness.check());
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
