/** The HTTP server of the gateway, with nothing on it yet: what it takes for a request, how it answers what is none, and how it ends. */
import { METHODS } from "node:http";
import { fastify, type FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import type { Log } from "#shared/process/log.ts";
import { newestRevision } from "#shared/values/revisions.ts";
import { sendCompatError } from "./compat/errors.ts";
import { isCompatPath, normalizeUrl } from "./compat/paths.ts";
import type { EdgeSettings } from "./config.ts";
import { createTrust } from "./listener/addresses.ts";
import { answerClientError } from "./listener/client-errors.ts";
import { createListener } from "./listener/listener.ts";
import { readOutRefusedBodies } from "./listener/refused-bodies.ts";
import { closeGently } from "./listener/shutdown.ts";
import { measure } from "./measure.ts";
import { sendError } from "./native/errors.ts";
import { newRequestId } from "./plugins/request.ts";
import { revisionAsked } from "./plugins/revision.ts";
import { securityHeaders } from "./plugins/security-headers.ts";
import type { Readiness } from "./readiness.ts";

const bodyBytesMax = 2 * 1024 * 1024;
// Long enough for any id that is only mistyped; longer paths are no paths of ours.
const pathParameterLengthMax = 500;

/** Makes the server. Closing it waits for the requests under way. */
export function createHttp(options: {
  edge: EdgeSettings;
  readiness: Readiness;
  log: Log;
  registry: Registry;
}): FastifyInstance {
  const { edge, readiness, log, registry } = options;
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
  // `Expect: 100-continue` is answered by Node; any other expectation is passed over, as RFC 9110 allows.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  return app;
}

/** So that each of them is answered by a route, be it with 405. */
function knowAllMethods(app: FastifyInstance): void {
  for (const method of METHODS) {
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
}
