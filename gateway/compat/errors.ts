/** Renders errors as JSON:API. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { DaybookError, type ErrorCode } from "#shared/values/errors.ts";
import { encodeId, newUuid, tryDecodeId } from "#shared/values/ids.ts";
import type { Log } from "#shared/process/log.ts";
import { takeError } from "../refusals.ts";
import { identifierFields } from "./convert/identifiers.ts";
import { Refusal } from "./faults.ts";
import { answerDocument, echoRevision } from "./reply.ts";

/** A JSON:API error. `source` is always an object, because some clients read nested fields without a check. */
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

/** Codes and titles by status. */
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

export function sendCompatError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const ours = takeError(log, error, request, reply);
  echoRevision(request, reply);
  return reply.send(answerDocument(reply, statusOf(ours), renderErrors(ours, request)));
}

/** The parts of a request that its error depends on. */
interface Asked {
  method: string;
  /** Whether no route has the path. */
  is404: boolean;
}

/** 422 becomes 400, because clients do not know 422. */
function statusOf({ status }: DaybookError): number {
  return status === 422 ? 400 : status;
}

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

/** A param with a leading slash is a JSON pointer, one with a capital is a header, and others are query parameters. */
function sourceOf(param: string | null, { method, is404 }: Asked): CompatError["source"] {
  if (param === null) return isRead(method) || is404 ? {} : { pointer: "/data" };
  if (param.startsWith("/")) return { pointer: param };
  return /^[A-Z]/.test(param) ? { header: param } : { parameter: param };
}

function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

function detailOf(code: ErrorCode, message: string, { is404 }: Asked): string {
  if (is404 && code === "resource_not_found") return unsupported;
  if (code === "unsupported_media_type" && message.includes("Content-Type")) {
    return "The body must come with Content-Type: application/vnd.api+json or application/json.";
  }
  if (code === "invalid_api_key") return "Missing or invalid private key or access token.";
  return message;
}

/** For paths of the other platform that Daybook does not have. */
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

/** Points to the attributes as a whole, as on the other platform. Clients expect no other pointer with this code. */
function duplicatePointer({ param }: DaybookError): string {
  return param?.startsWith("/") ? param.replace(identifierPointer, "") : "/data/attributes";
}

const identifierPointer = new RegExp(`/(?:${identifierFields.join("|")})$`);

/** The profile that holds the first identifier in conflict. The profile service names it in its message. */
function holderOf({ message, errors }: DaybookError): string | undefined {
  for (const text of [...errors.map((field) => field.message), message]) {
    const [found = ""] = /prof_[0-7][0-9a-hjkmnp-tv-z]{25}/.exec(text) ?? [];
    const uuid = tryDecodeId("prof", found);
    if (uuid !== undefined) return encodeId("prof", uuid);
  }
  return undefined;
}

/** The error of one item of a job. */
export function importErrorOf(error: DaybookError): { code: string; title: string; detail: string; pointer: string } {
  const pointer = error.param ?? "/data/attributes";
  if (error.code === "identity_conflict") {
    return { code: "duplicate_profile", title: "Conflict.", detail: duplicate, pointer };
  }
  const { code, title } = kinds[statusOf(error)] ?? { code: "invalid", title: "Invalid input." };
  return { code, title, detail: error.message, pointer };
}
