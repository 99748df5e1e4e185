/** Routes as data: the tables that serve requests and from which the OpenAPI document is made. */
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Operation } from "./operation.ts";

/**
 * What a handler answers: a body, which is then sent, or the reply if it has sent that itself. A body costs less: to
 * return the reply is to wait until it is sent, once for each function that returns it.
 */
export type Answer = string | Buffer | FastifyReply;

export interface Route<Op extends Operation, Exchange> {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Relative to the prefix of the surface, such as `/profiles/:id`. */
  url: string;
  operation: Op;
  handle(this: void, exchange: Exchange): Answer | Promise<Answer>;
}

/** @param prepare makes the reader of a route, which checks a request and makes the exchange for the handler. */
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
      config: { ...config, operation, ...(operation.streams ? { isStream: true } : {}) },
      handler: async (request, reply) => handle(await open(request, reply)),
    });
  }
}

/** Whether a route changes data and so honours an Idempotency-Key. */
export function changes({ method, operation }: Route<Operation, never>): boolean {
  return method !== "GET" && !operation.reads;
}
