/** Ids of jobs: chosen before the work, and read from paths. */
import type { FastifyRequest } from "fastify";
import { decodeId, encodeId, newId } from "#shared/values/ids.ts";
import { DaybookError } from "#shared/values/errors.ts";
import { operationOf } from "../plugins/idempotency.ts";
import { toId } from "./convert/ids.ts";

/** The id of the job that a request creates. Requests of the same operation have the same id. */
export function jobIdOf(request: FastifyRequest): string {
  const { operationId } = operationOf(request);
  return operationId === undefined ? newId("job") : encodeId("job", decodeId("op", operationId, "operation_id"));
}

/** The import job id in a path. @throws DaybookError `resource_not_found` if it cannot be one. */
export function toJobId(id: string): string {
  const jobId = toId("job", id);
  if (jobId === undefined) throw noSuchJob();
  return jobId;
}

export function noSuchJob(): DaybookError {
  return new DaybookError("resource_not_found", "A job with this id does not exist.", { param: "id" });
}
