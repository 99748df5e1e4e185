/** On whose behalf calls to services are made. */
import type { FastifyRequest } from "fastify";
import type { Call } from "#shared/rpc/interceptors.ts";
import type { Viewer } from "./sessions.ts";

export function callOf(request: FastifyRequest, viewer?: Viewer): Call {
  return { requestId: request.id, caller: viewer?.member.id ?? "gateway" };
}
