/** Maps import jobs to resources. */
import { ImportJobStatus, type ImportError, type ImportJob } from "#proto/daybook/profile/v1/profile_pb.ts";
import { fromErrorMessage } from "#shared/rpc/errors.ts";
import { isJsonObject, parseJson, type JsonObject } from "#shared/json/json.ts";
import { isHiddenAttribute } from "../../hidden-attributes.ts";
import { importErrorOf } from "../errors.ts";
import { pointerTo } from "../faults.ts";
import type { Resource } from "../reply.ts";
import { identifierTypes } from "./identifiers.ts";
import { toDateTimeOrNull } from "./times.ts";

const statusNames: Record<ImportJobStatus, string> = {
  [ImportJobStatus.UNSPECIFIED]: "queued",
  [ImportJobStatus.QUEUED]: "queued",
  [ImportJobStatus.PROCESSING]: "processing",
  [ImportJobStatus.COMPLETE]: "complete",
};

/** Statuses by name. Names that no job here has are skipped. */
export function toStatuses(names: readonly string[]): ImportJobStatus[] {
  const states = [ImportJobStatus.QUEUED, ImportJobStatus.PROCESSING, ImportJobStatus.COMPLETE];
  return states.filter((status) => names.includes(statusNames[status]));
}

export function jobResource(job: ImportJob, links: { self: string }): Resource {
  return {
    type: "profile-bulk-import-job",
    id: job.id,
    attributes: {
      status: statusNames[job.status],
      created_at: toDateTimeOrNull(job.createdAt),
      total_count: job.totalCount,
      completed_count: job.completedCount,
      failed_count: job.failedCount,
      completed_at: toDateTimeOrNull(job.completedAt),
      expires_at: toDateTimeOrNull(job.expiresAt),
      started_at: toDateTimeOrNull(job.startedAt),
    },
    relationships: { lists: { data: [] } },
    links,
  };
}

/** The sent attributes and id of an item, stored to report with its error. */
export function originalJson({ id, attributes }: JsonObject): string {
  return JSON.stringify({
    ...(id === undefined || id === null ? {} : { id }),
    ...(isJsonObject(attributes) ? attributes : {}),
  });
}

/**
 * The error of an item that could not be written.
 * @param showsValues whether the caller may see identifiers.
 */
export function importErrorResource(failure: ImportError, showsValues: boolean): Resource {
  if (!failure.error) throw new Error("an import error says what is wrong");
  const item = `/data/attributes/profiles/data/${failure.item}`;
  const at = `${item}/attributes`;
  const error = fromErrorMessage(failure.error).withParams((param) =>
    param === "profile_id" ? `${item}/id` : at + toPlace(param),
  );
  const { code, title, detail, pointer } = importErrorOf(error);
  const source = { pointer: pointer === "/data/attributes" ? at : pointer };
  return {
    type: "import-error",
    id: failure.id,
    attributes: { code, title, detail, source, original_payload: toPayload(failure.originalJson, showsValues) },
  };
}

/** What was sent of an item, as the caller may see it. */
export function toPayload(sentJson: string, showsValues: boolean): object {
  const payload = parseJson(sentJson) as JsonObject;
  if (showsValues) return payload;
  const shown = Object.entries(payload).map(([field, value]): [string, unknown] => {
    if (Object.hasOwn(identifierTypes, field)) return [field, null];
    if (field !== "properties" || !isJsonObject(value)) return [field, value];
    return [field, Object.fromEntries(Object.entries(value).filter(([name]) => !isHiddenAttribute(name)))];
  });
  return Object.fromEntries(shown);
}

/** JSON pointer of a param. Identifiers have none; the detail names them. */
function toPlace(param: string): string {
  const [first = "", second, ...rest] = param.split(".");
  if (first === "location") return `/location${pointerTo(second === undefined ? [] : [second])}`;
  if (first === "attributes") return `/properties${pointerTo(second === undefined ? [] : [second, ...rest])}`;
  return "";
}
