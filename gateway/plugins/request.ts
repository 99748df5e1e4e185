import { fastifyPlugin } from "fastify-plugin";
import type { FastifyRequest } from "fastify";
import { newId } from "#shared/values/ids.ts";
import type { Call } from "#shared/rpc/interceptors.ts";
import { newestRevision, type Revision } from "#shared/values/revisions.ts";
import type { Caller } from "../callers.ts";
import { tooLargeHeaders } from "../refusals.ts";
import { revisionAsked } from "./revision.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Null until the key or access token is authenticated. */
    caller: Caller | null;
    /** The revision of the answer. */
    revision: Revision;
  }
}

// Far more than clients send.
const headersMax = 100;

/** The id is ours: a client's X-Request-Id is ignored. */
export function newRequestId(): string {
  return newId("req");
}

export const requestPlugin = fastifyPlugin((app) => {
  app.decorateRequest("caller", null);
  app.decorateRequest("revision", newestRevision);
  app.addHook("onRequest", async (request, reply) => {
    void reply.header("x-request-id", request.id);
    // For answers that are sent before authentication.
    request.revision = revisionAsked(request) ?? newestRevision;
    if (request.raw.rawHeaders.length > 2 * headersMax)
      throw tooLargeHeaders(`There are more than ${headersMax} headers.`);
  });
  app.addHook("onSend", async (request, reply) => {
    void reply.header("service-version", request.revision);
  });
});

/** @throws Error on a route that does not authenticate */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error("this route does not authenticate");
  return request.caller;
}

/** The request id and the caller, for RPC calls. */
export function callOf(request: FastifyRequest): Call {
  return { requestId: request.id, caller: request.caller?.callerId ?? "gateway" };
}
