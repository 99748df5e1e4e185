/** Routes as data: tables that requests are served by and the OpenAPI document is made from. */
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Operation } from "./operation.ts";

/** A route of a surface. */
export interface Route<Op extends Operation, Exchange> {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below the prefix of the surface, such as `/profiles/:id`. */
  url: string;
  operation: Op;
  handle(this: void, exchange: Exchange): FastifyReply | Promise<FastifyReply>;
}

/**
 * Registers the routes of a surface.
 * @param prepare gives for a route what reads and checks its requests, and makes of each what the handler is given.
 */
export function addRoutes<Op extends Operation, Exchange>(
  app: FastifyInstance,
  routes: readonly Route<Op, Exchange>[],
  prepare: (
    route: Route<Op, Exchange>,
  ) => (request: FastifyRequest, reply: FastifyReply) => Exchange | Promise<Exchange>,
  { bodyLimit, config }: { bodyLimit?: number; config?: FastifyContextConfig } = {},
): void {
  for (const route of routes) {
    const { method, url, operation, handle } = route;
    const open = prepare(route);
    app.route({
      method,
      url,
      bodyLimit,
      config: { ...config, operation },
      handler: async (request, reply) => handle(await open(request, reply)),
    });
  }
}

/** Whether the operation of a route is done once with an Idempotency-Key. */
export function changes({ method, operation }: Route<Operation, never>): boolean {
  return method !== "GET" && !operation.reads;
}
