/** What every request carries from its first moment on. */
import { fastifyPlugin } from "fastify-plugin";
import type { FastifyRequest } from "fastify";
import { newId } from "#shared/values/ids.ts";
import type { Call } from "#shared/rpc/interceptors.ts";
import { newestRevision, type Revision } from "#shared/values/revisions.ts";
import { tooLargeHeaders } from "../refusals.ts";
import type { Caller } from "./authentication.ts";
import { revisionAsked } from "./revision.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Who calls; null until the key is known to be good. */
    caller: Caller | null;
    /** The revision to answer in. */
    revision: Revision;
  }
}

// Far more than any client sends of its own.
const headersMax = 100;

/** Gives each request its id. The id is ours: one that a client sends is not looked at. */
export function newRequestId(): string {
  return newId("req");
}

export const requestPlugin = fastifyPlugin((app) => {
  app.decorateRequest("caller", null);
  app.decorateRequest("revision", newestRevision);
  app.addHook("onRequest", async (request, reply) => {
    void reply.header("x-request-id", request.id);
    // For what is refused before anybody knows who calls.
    request.revision = revisionAsked(request) ?? newestRevision;
    // A name and a value each.
    if (request.raw.rawHeaders.length > 2 * headersMax)
      throw tooLargeHeaders(`There are more than ${headersMax} headers.`);
  });
  app.addHook("onSend", async (request, reply) => {
    void reply.header("service-version", request.revision);
  });
});

/** The caller of a route that asks for a key. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error("this route does not authenticate");
  return request.caller;
}

/** On whose behalf a request makes calls. */
export function callOf(request: FastifyRequest): Call {
  return { requestId: request.id, caller: request.caller?.keyId ?? "gateway" };
}
