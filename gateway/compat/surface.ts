/** The compatibility surface: the JSON:API of another platform. Registered twice, under `/api` and without it. */
import type { FastifyInstance } from "fastify";
import { readJsonBody } from "../plugins/json-body.ts";
import { collectMethods } from "../plugins/method-not-allowed.ts";
import type { CompatContext } from "./context.ts";
import { notSupported, sendCompatError } from "./errors.ts";
import { collectCompatOperations, describeCompat, type CompatDescription } from "./openapi.ts";
import { areas, unsupportedAreas } from "./paths.ts";
import { echoRevision } from "./reply.ts";
import { createRouter } from "./router.ts";
import { accountRoutes } from "./routes/accounts.ts";
import { eventRoutes } from "./routes/events.ts";
import { eventWriteRoutes } from "./routes/event-writes.ts";
import { importJobRoutes } from "./routes/import-jobs.ts";
import { metricAggregateRoutes } from "./routes/metric-aggregates.ts";
import { metricRoutes } from "./routes/metrics.ts";
import { profileWriteRoutes } from "./routes/profile-writes.ts";
import { profileRoutes } from "./routes/profiles.ts";

// A body of 5 MB holds more values than one of 2 MB.
const bodyValuesMax = 600_000;

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
    app.removeAllContentTypeParsers();
    const types = ["application/json", "application/vnd.api+json"];
    // Clients send the type with every request, also where there is no body.
    app.addContentTypeParser(types, { parseAs: "buffer" }, (request, body, done) =>
      readJsonBody(request, body as Buffer, { valuesMax: bodyValuesMax, mayBeEmpty: request.method === "GET" }, done),
    );
    const operations = collectCompatOperations(app);
    const addMethodNotAllowed = collectMethods(app);
    const router = createRouter(app, context);
    eventWriteRoutes(router, context);
    eventRoutes(router, context);
    profileWriteRoutes(router, context);
    profileRoutes(router, context);
    importJobRoutes(router, context);
    metricRoutes(router, context);
    metricAggregateRoutes(router, context);
    accountRoutes(router, context);
    describe?.(describeCompat(operations));
    addMethodNotAllowed();
    if (app.prefix === "") addUnsupported(app);
    else app.setNotFoundHandler((request, reply) => sendCompatError(context.log, notSupported(), request, reply));
  };
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
      onRequest: async () => {
        throw notSupported();
      },
      handler: () => undefined,
    });
  }
}
