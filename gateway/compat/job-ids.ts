/** Ids of jobs: chosen before anything is done, and read from paths. */
import type { FastifyRequest } from "fastify";
import { decodeId, encodeId, newId } from "#shared/values/ids.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { operationOf } from "../plugins/idempotency.ts";
import { toId } from "./convert/ids.ts";

/** The id of the job that a request makes: the same one, however often its operation is asked for. */
export function jobIdOf(request: FastifyRequest): string {
  const { operationId } = operationOf(request);
  return operationId === undefined ? newId("job") : encodeId("job", decodeId("op", operationId, "operation_id"));
}

/** The id of an import job that a path names. @throws DaybookError `resource_not_found` for what can be none. */
export function toJobId(id: string): string {
  const jobId = toId("job", id);
  if (jobId === undefined) throw noSuchJob();
  return jobId;
}

/** There is no job of an id. */
export function noSuchJob(): DaybookError {
  return new DaybookError("resource_not_found", "A job with this id does not exist.", { param: "id" });
}
