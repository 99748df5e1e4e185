/** Ids of jobs: chosen before anything is done. */
import type { FastifyRequest } from "fastify";
import { decodeId, encodeId, newId } from "#shared/ids.ts";
import { operationOf } from "../plugins/idempotency.ts";

/** The id of the job that a request makes: the same one, however often its operation is asked for. */
export function jobIdOf(request: FastifyRequest): string {
  const { operationId } = operationOf(request);
  return operationId === undefined ? newId("job") : encodeId("job", decodeId("op", operationId, "operation_id"));
}
