/** Registers routes of the compatibility surface: what they take is said once for all of them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RateWindow } from "../rate/limits.ts";
import type { CompatContext } from "./context.ts";
import { linksOf, type Links } from "./links.ts";
import type { CompatOperation } from "./operation.ts";
import { readQuery, type Query } from "./query.ts";

/** What a route is given beside its request. */
export interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
  query: Query;
  links: Links;
  /** The id in the path, if there is one. */
  id: string;
}

/** Registers one route. */
export interface Router {
  route(
    method: "GET" | "POST" | "PATCH",
    url: string,
    scope: string,
    operation: CompatOperation,
    handler: (exchange: Exchange) => Promise<FastifyReply>,
    options?: { rateByBody?: (body: unknown) => RateWindow },
  ): void;
}

// The other platform's.
const bodyBytesMax = 5 * 1024 * 1024;
const ownSchemes = ["compat-api-key", "bearer"];
// Some clients send nothing else as a key: it may stand before one of ours.
const keyPrefix = "pk_";

export function createRouter(app: FastifyInstance, { cursors, settings }: CompatContext): Router {
  const authSchemes = [...new Set([...ownSchemes, ...settings.authSchemes.map((scheme) => scheme.toLowerCase())])];
  return {
    route(method, url, scope, operation, handler, options = {}) {
      const config = { scope, authSchemes, keyPrefix, reads: operation.reads, compat: operation, ...options };
      app.route<{ Params: { id?: string } }>({
        method,
        url,
        bodyLimit: bodyBytesMax,
        config,
        handler: (request, reply) => {
          const { id = "" } = request.params;
          const query = readQuery(request, operation.query ?? {}, cursors, operation.id + id);
          return handler({ request, reply, query, links: linksOf(request), id });
        },
      });
    },
  };
}
