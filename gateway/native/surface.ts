import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { checkFaults, DaybookError } from "#shared/values/errors.ts";
import { collectMethods } from "../plugins/method-not-allowed.ts";
import type { SurfaceContext } from "../surface/exchange.ts";
import { addRoutes } from "../surface/routes.ts";
import { NativeExchange } from "./exchange.ts";
import type { NativeOperation } from "./operation.ts";
import { idReader } from "./paths.ts";
import { readPrecondition } from "./precondition.ts";
import { readQuery } from "./query.ts";
import { nativeRoutes } from "./routes.ts";

/** Registers the native surface, flat JSON, under the prefix that Fastify passes. */
export function nativeSurface(context: SurfaceContext) {
  return async (app: FastifyInstance): Promise<void> => {
    const addMethodNotAllowed = collectMethods(app);
    addRoutes(app, nativeRoutes, ({ url, operation }) => exchangeReader(context, url, operation));
    addMethodNotAllowed();
  };
}

/**
 * Prepares the reader of a route. It throws a DaybookError for the path ids, then for If-Match, then for all faults of
 * query and body together. For a route without a body the query comes first.
 */
function exchangeReader<Body>(context: SurfaceContext, url: string, operation: NativeOperation<Body>) {
  const readIds = idReader(url);
  return (request: FastifyRequest, reply: FastifyReply): NativeExchange<Body> => {
    // The type that Fastify's query parser returns.
    const { query, faults } = readQuery(request.query as Record<string, string | string[]>, operation.query ?? {});
    if (!operation.body) checkFaults(faults);
    const ids = readIds(request.params);
    const precondition = operation.precondition && readPrecondition(request);
    if (precondition && operation.precondition === "refused") throw noVersionYet();
    const { value, faults: bodyFaults = [] } = operation.body?.examine(request.body) ?? {};
    checkFaults([...faults, ...bodyFaults]);
    return new NativeExchange(context, request, reply, { ids, precondition, query, body: value as Body });
  };
}

function noVersionYet(): DaybookError {
  const message = "`If-Match` must be left out: a profile that is created has no version yet.";
  return new DaybookError("precondition_failed", message, { param: "If-Match" });
}
