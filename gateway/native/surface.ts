/** The native surface: flat JSON. */
import type { FastifyInstance } from "fastify";
import type { OpenApiDocument } from "../docs/document.ts";
import { collectMethods } from "../plugins/method-not-allowed.ts";
import type { NativeContext } from "./context.ts";
import { sendError, sendNotFound } from "./errors.ts";
import { collectOperations, createDocument } from "./openapi.ts";
import { accountRoutes } from "./routes/account.ts";
import { eventBatchRoutes } from "./routes/event-batch.ts";
import { eventRoutes } from "./routes/events.ts";
import { identifierRoutes } from "./routes/identifiers.ts";
import { metricAggregateRoutes } from "./routes/metric-aggregates.ts";
import { metricRoutes } from "./routes/metrics.ts";
import { profileBatchRoutes } from "./routes/profile-batch.ts";
import { profileRoutes } from "./routes/profiles.ts";
import { schemaRoutes } from "./routes/schemas.ts";
import { revisionRoutes } from "./routes/revisions.ts";

/**
 * Registers the surface under the prefix that it is given.
 * @param document is given the OpenAPI document of it.
 */
export function nativeSurface(context: NativeContext, document: (made: OpenApiDocument) => void) {
  return async (app: FastifyInstance): Promise<void> => {
    app.setErrorHandler(async (error, request, reply) =>
      sendError(context.log, await app.settleRate(request, reply, error), request, reply),
    );
    app.setNotFoundHandler((request, reply) => sendNotFound(context.log, request, reply));
    const operations = collectOperations(app);
    const addMethodNotAllowed = collectMethods(app);
    eventRoutes(app, context);
    eventBatchRoutes(app, context);
    profileRoutes(app, context);
    profileBatchRoutes(app, context);
    identifierRoutes(app, context);
    metricRoutes(app, context);
    metricAggregateRoutes(app, context);
    schemaRoutes(app, context);
    accountRoutes(app, context);
    revisionRoutes(app, context);
    document(createDocument(operations) as OpenApiDocument);
    addMethodNotAllowed();
  };
}
