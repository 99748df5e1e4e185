/** Names of operations in rejected writes and in jobs, such as `events.create` or `compat.profile_import`. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { FastifyRequest } from "fastify";
import type { JobOriginSchema } from "#proto/daybook/common/v1/job_pb.ts";
import { RejectionSurface } from "#proto/daybook/event/v1/rejected_pb.ts";
import { callerOf } from "../plugins/request.ts";

const names = new Map<string, string>();

export function surfaceOf({ routeOptions: { url = "" } }: FastifyRequest): RejectionSurface {
  return url.startsWith("/v1/") ? RejectionSurface.NATIVE : RejectionSurface.COMPAT;
}

/** The name of a write: its collection, and what it does with it. */
export function operationName({ method, routeOptions: { url = "" } }: FastifyRequest): string {
  const key = `${method} ${url}`;
  let name = names.get(key);
  if (name === undefined) {
    name = nameOf(method, url);
    names.set(key, name);
  }
  return name;
}

function nameOf(method: string, url: string): string {
  const [, prefix = "", rest = ""] = /^(\/v1|\/api)?(\/.*)$/.exec(url) ?? [];
  const segments = rest
    .split("/")
    .filter((segment) => segment !== "" && !segment.startsWith(":"))
    .map((segment) => segment.replaceAll("-", "_"));
  const verb = { DELETE: "delete", PATCH: "update" }[method] ?? (isCollection(segments.at(-1)) ? "create" : undefined);
  return [...(prefix === "/v1" ? [] : ["compat"]), ...segments, ...(verb === undefined ? [] : [verb])].join(".");
}

/** The origin of a job that a request makes. */
export function jobOriginOf(request: FastifyRequest): MessageInitShape<typeof JobOriginSchema> {
  const { callerId, kind, name } = callerOf(request);
  return {
    operation: operationName(request),
    requestId: request.id,
    keyId: callerId,
    keyName: name,
    installationId: kind === "installation" ? callerId : undefined,
  };
}

/** Collections are in the plural, and acts such as `batch`, `merge` and `rotate-secret` are not. */
function isCollection(segment: string | undefined): boolean {
  return segment?.endsWith("s") === true;
}
