/** If-Match: optimistic concurrency of writes to a profile. */
import { create } from "@bufbuild/protobuf";
import type { FastifyRequest } from "fastify";
import { PreconditionSchema, type Precondition } from "#proto/daybook/profile/v1/profile_pb.ts";
import { DaybookError } from "#shared/values/errors.ts";

// RFC 9110, section 8.8.3.
const entityTag = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
const listPattern = new RegExp(`^${entityTag}(?:[ \\t]*,[ \\t]*${entityTag})*$`);
const headerLengthMax = 1000;

/**
 * @returns undefined without If-Match. A foreign or weak entity tag matches no version.
 * @throws DaybookError `parameter_invalid` with param `If-Match` when it is malformed
 */
export function readPrecondition(request: FastifyRequest): Precondition | undefined {
  const header = request.headers["if-match"]?.trim();
  if (header === undefined) return undefined;
  if (header === "*") return create(PreconditionSchema, { anyVersion: true });
  if (header.length > headerLengthMax || !listPattern.test(header)) {
    const message = '`If-Match` must be the ETag of a prior read such as "v3", or *.';
    throw new DaybookError("parameter_invalid", message, { param: "If-Match" });
  }
  const versions = [...header.matchAll(/(?<!W\/)"v([1-9]\d{0,14})"/g)].map(([, version]) => BigInt(version ?? ""));
  return create(PreconditionSchema, { versions });
}
