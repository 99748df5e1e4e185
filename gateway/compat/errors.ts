/** Errors of the compatibility surface: JSON:API, made from errors of ours. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { DaybookError, type ErrorCode } from "#shared/values/errors.ts";
import { encodeId, newUuid, tryDecodeId } from "#shared/values/ids.ts";
import type { Log } from "#shared/process/log.ts";
import { takeError } from "../refusals.ts";
import { identifierFields } from "./convert/identifiers.ts";
import { Refusal } from "./faults.ts";
import { echoRevision, sendDocument } from "./reply.ts";

/** An error as clients of this format read it. `source` is always an object: some read into it unasked. */
interface CompatError {
  id: string;
  status: number;
  code: string;
  title: string;
  detail: string;
  source: { pointer?: string; parameter?: string; header?: string };
  links: object;
  meta: object;
}

/** What this surface calls errors, by status. */
const kinds: Readonly<Record<number, { code: string; title: string }>> = {
  400: { code: "invalid", title: "Invalid input." },
  401: { code: "not_authenticated", title: "Authentication credentials were not provided or are not valid." },
  403: { code: "permission_denied", title: "You do not have permission to perform this action." },
  404: { code: "not_found", title: "Not found." },
  405: { code: "method_not_allowed", title: "Method not allowed." },
  408: { code: "request_timeout", title: "The request did not arrive in time." },
  409: { code: "conflict", title: "Conflict." },
  412: { code: "precondition_failed", title: "Precondition failed." },
  413: { code: "request_too_large", title: "The request is too large." },
  415: { code: "unsupported_media_type", title: "Unsupported media type." },
  431: { code: "request_too_large", title: "The headers are too large." },
  429: { code: "throttled", title: "Too many requests." },
  500: { code: "error", title: "A server error occurred." },
  503: { code: "service_unavailable", title: "The service is not available." },
};

const duplicate = "A profile already exists with one of these identifiers.";

/** Answers with an error. */
export function sendCompatError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const ours = takeError(log, error, request, reply);
  echoRevision(request, reply);
  return sendDocument(reply, statusOf(ours), renderErrors(ours, request));
}

/** What an error is of, as far as it matters to its rendering. */
interface Asked {
  method: string;
  /** Whether there is no such path. */
  is404: boolean;
}

/** Every impossible change is bad input here: clients know no other status for it. */
function statusOf({ status }: DaybookError): number {
  return status === 422 ? 400 : status;
}

/** The document of an error. */
export function renderErrors(error: DaybookError, asked: Asked): { errors: CompatError[] } {
  if (error.code === "identity_conflict") return { errors: [renderDuplicate(error)] };
  const status = statusOf(error);
  const { code, title } = kinds[status] ?? { code: "invalid", title: "Invalid input." };
  const faults = error instanceof Refusal ? error.every : error.errors;
  const all = faults.length > 0 ? faults : [{ code: error.code, message: error.message, param: error.param }];
  const errors = all.map(({ code: reason, message, param }) => ({
    id: newUuid(),
    status,
    code: reason.startsWith("idempotency_key_") ? reason : code,
    title,
    detail: detailOf(reason, message, asked),
    source: sourceOf(param, asked),
    links: {},
    meta: {},
  }));
  return { errors };
}

/** A param that begins with a slash is a pointer into the body, one in capitals the name of a header; any other one is of the query. */
function sourceOf(param: string | null, { method, is404 }: Asked): CompatError["source"] {
  if (param === null) return method === "GET" || is404 ? {} : { pointer: "/data" };
  if (param.startsWith("/")) return { pointer: param };
  return /^[A-Z]/.test(param) ? { header: param } : { parameter: param };
}

function detailOf(code: ErrorCode, message: string, { is404 }: Asked): string {
  if (is404 && code === "resource_not_found") return unsupported;
  if (code === "unsupported_media_type" && message.includes("Content-Type")) {
    return "The body must come with Content-Type: application/vnd.api+json or application/json.";
  }
  if (code === "invalid_api_key") return "Missing or invalid private key.";
  return message;
}

/** A path of the other platform that is not here. */
export function notSupported(): DaybookError {
  return new DaybookError("resource_not_found", unsupported);
}

const unsupported =
  "This is not supported here. What is supported stands in the documentation of the compatibility surface, at /docs.";

function renderDuplicate(error: DaybookError): CompatError {
  const id = holderOf(error);
  return {
    id: newUuid(),
    status: 409,
    code: "duplicate_profile",
    title: "Conflict.",
    detail: duplicate,
    source: { pointer: duplicatePointer(error) },
    links: {},
    meta: id === undefined ? {} : { duplicate_profile_id: id },
  };
}

/** The attributes as a whole, as on the other platform: clients look for nothing else with this code. */
function duplicatePointer({ param }: DaybookError): string {
  return param?.startsWith("/") ? param.replace(identifierPointer, "") : "/data/attributes";
}

const identifierPointer = new RegExp(`/(?:${identifierFields.join("|")})$`);

/** The profile that has the first identifier in conflict: the service names it in what it says of the field. */
function holderOf({ message, errors }: DaybookError): string | undefined {
  for (const text of [...errors.map((field) => field.message), message]) {
    const [found = ""] = /prof_[0-7][0-9a-hjkmnp-tv-z]{25}/.exec(text) ?? [];
    const uuid = tryDecodeId("prof", found);
    if (uuid !== undefined) return encodeId("prof", uuid);
  }
  return undefined;
}

/** What is said of one item that a job could not write. */
export function importErrorOf(error: DaybookError): { code: string; title: string; detail: string; pointer: string } {
  const pointer = error.param ?? "/data/attributes";
  if (error.code === "identity_conflict") {
    return { code: "duplicate_profile", title: "Conflict.", detail: duplicate, pointer };
  }
  const { code, title } = kinds[statusOf(error)] ?? { code: "invalid", title: "Invalid input." };
  return { code, title, detail: error.message, pointer };
}
