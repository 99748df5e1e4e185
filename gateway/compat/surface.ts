/** The compatibility surface: the JSON:API of another platform. Registered twice, under `/api` and without it. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { readJsonBody } from "../plugins/json-body.ts";
import { collectMethods } from "../plugins/method-not-allowed.ts";
import type { CompatContext } from "./context.ts";
import { notSupported, sendCompatError } from "./errors.ts";
import { collectCompatOperations, describeCompat, type CompatDescription } from "./openapi.ts";
import { areas, unsupportedAreas } from "./paths.ts";
import { echoRevision } from "./reply.ts";
import { createRouter } from "./router.ts";
import { accountRoutes } from "./routes/accounts.ts";
import { emptyListRoutes } from "./routes/empty-lists.ts";
import { eventRelationRoutes } from "./routes/event-relations.ts";
import { eventRoutes } from "./routes/events.ts";
import { eventWriteRoutes } from "./routes/event-writes.ts";
import { importJobRoutes } from "./routes/import-jobs.ts";
import { metricAggregateRoutes } from "./routes/metric-aggregates.ts";
import { metricRoutes } from "./routes/metrics.ts";
import { profileWriteRoutes } from "./routes/profile-writes.ts";
import { profileRoutes } from "./routes/profiles.ts";

// A body of 5 MB holds more values than one of 2 MB.
const bodyValuesMax = 600_000;
const byteOrderMark = Buffer.from("\ufeff");

/**
 * Registers the surface under the prefix that it is given.
 * @param describe is given what the OpenAPI document says of it.
 */
export function compatSurface(context: CompatContext, describe?: (made: CompatDescription) => void) {
  return async (app: FastifyInstance): Promise<void> => {
    app.setErrorHandler(async (error, request, reply) =>
      sendCompatError(context.log, await app.settleRate(request, reply, error), request, reply),
    );
    app.addHook("onRequest", async (request, reply) => echoRevision(request, reply));
    const schemes = ["Bearer", ...context.settings.authSchemes].join(", ");
    app.addHook("onSend", async (_request, reply) => {
      if (reply.statusCode === 401) void reply.header("www-authenticate", schemes);
      const limit = reply.getHeader("ratelimit-limit");
      // As the other platform writes it: the limit, and by which windows it comes about.
      if (typeof limit === "number") void reply.header("ratelimit-limit", `${limit}, ${limit};w=60`);
    });
    app.removeAllContentTypeParsers();
    const types = ["application/json", "application/vnd.api+json"];
    // Clients send the type with every request, also where there is no body.
    app.addContentTypeParser(types, { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) =>
      readJsonBody(request, withoutByteOrderMark(body), {
        valuesMax: bodyValuesMax,
        mayBeEmpty: request.method === "GET",
      }),
    );
    const operations = collectCompatOperations(app);
    const addMethodNotAllowed = collectMethods(app);
    const router = createRouter(app, context);
    eventWriteRoutes(router, context);
    eventRoutes(router, context);
    eventRelationRoutes(router, context);
    profileWriteRoutes(router, context);
    profileRoutes(router, context);
    importJobRoutes(router, context);
    metricRoutes(router, context);
    metricAggregateRoutes(router, context);
    accountRoutes(router, context);
    emptyListRoutes(router, context);
    describe?.(describeCompat(operations));
    addMethodNotAllowed();
    if (app.prefix === "") addUnsupported(app);
    else app.setNotFoundHandler((request, reply) => sendCompatError(context.log, notSupported(), request, reply));
  };
}

/** Some clients on Windows write one before the body. */
function withoutByteOrderMark(body: Buffer): Buffer {
  return body.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? body.subarray(byteOrderMark.length) : body;
}

/** Under `/api` every unknown path is of this surface; without it only those that are known to be the other platform's. */
function addUnsupported(app: FastifyInstance): void {
  const paths = [
    ...areas.map((area) => `/${area}/*`),
    ...unsupportedAreas.flatMap((area) => [`/${area}`, `/${area}/*`]),
  ];
  for (const url of paths) {
    app.route({
      method: app.supportedMethods,
      url,
      config: { isRefusal: true },
      onRequest: async () => {
        throw notSupported();
      },
      handler: () => undefined,
    });
  }
}
