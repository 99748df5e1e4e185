/** The native surface: flat JSON. */
import type { FastifyInstance } from "fastify";
import { collectMethods } from "../plugins/method-not-allowed.ts";
import type { NativeContext } from "./context.ts";
import { sendError, sendNotFound } from "./errors.ts";
import { eventRoutes } from "./routes/events.ts";
import { metricRoutes } from "./routes/metrics.ts";
import { profileRoutes } from "./routes/profiles.ts";

/** Registers the surface under the prefix that it is given. */
export function nativeSurface(context: NativeContext) {
  return async (app: FastifyInstance): Promise<void> => {
    app.setErrorHandler((error, request, reply) => sendError(context.log, error, request, reply));
    app.setNotFoundHandler((request, reply) => sendNotFound(context.log, request, reply));
    const addMethodNotAllowed = collectMethods(app);
    eventRoutes(app, context);
    profileRoutes(app, context);
    metricRoutes(app, context);
    addMethodNotAllowed();
  };
}
