/** The HTTP server without routes: which requests it accepts, how it answers malformed ones, and how it closes. */
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
import { withRoutedMethods } from "./listener/methods.ts";
import { readOutRefusedBodies } from "./listener/refused-bodies.ts";
import { closeGently } from "./listener/shutdown.ts";
import { measure } from "./measure.ts";
import { sendError } from "./native/errors.ts";
import { newRequestId } from "./plugins/request.ts";
import { revisionAsked } from "./plugins/revision.ts";
import { securityHeaders } from "./plugins/security-headers.ts";
import type { Readiness } from "./readiness.ts";
import { traceRequests } from "./tracing.ts";

const bodyBytesMax = 2 * 1024 * 1024;
// Long enough for any mistyped id; a longer path parameter matches no route.
const pathParameterLengthMax = 500;

/** Closing the server waits for the requests under way. */
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
    serverFactory: (handler) => listener.serverFactory(withRoutedMethods(handler)),
    trustProxy: edge.trustedProxies.length > 0 && isTrusted,
    // RFC 9112, section 3.2.2: a server must accept a target in absolute form.
    rewriteUrl: ({ url = "/" }) =>
      normalizeUrl(url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*(?=\/)/i, "")),
    // Requests on open connections are answered while the server closes.
    return503OnClosing: false,
    // This timeout would apply to closing too, which takes as long as clients and SHUTDOWN_DELAY_MS need. runProcess
    // has its own limit.
    pluginTimeout: 0,
    routerOptions: { maxParamLength: pathParameterLengthMax },
    // Malformed paths come here without passing any hook.
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
    // Bytes that are not HTTP, or do not arrive in time.
    clientErrorHandler: (error, socket) =>
      answerClientError(error, socket, () => app.rateHeaders(socket.remoteAddress ?? "")),
  });
  measure(app, registry);
  traceRequests(app);
  readOutRefusedBodies(app);
  closeGently(app, listener, readiness, edge.shutdownDelayMs);
  // Node answers `Expect: 100-continue`. Other expectations are ignored, as RFC 9110 allows.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  return app;
}
